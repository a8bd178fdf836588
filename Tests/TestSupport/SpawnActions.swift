#if os(Linux) || os(macOS)
import Foundation

/// The actions of `posix_spawn` between the fork and the program's start.
struct SpawnActions {
    #if canImport(Darwin)
    private var actions: posix_spawn_file_actions_t?
    private var attributes: posix_spawnattr_t?
    #else
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
    #endif

    init() {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
    }

    /// Frees the actions.
    mutating func end() {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }

    /// Makes a descriptor of the program a copy of one of this process, or of the null device.
    ///
    /// - Throws: `POSIXError` for a descriptor that isn't open, such as one of a pipe that couldn't be created.
    mutating func set(_ target: Int32, to source: Int32?) throws {
        guard let source else {
            return try Self.check(posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0))
        }
        try Self.check(posix_spawn_file_actions_adddup2(&actions, source, target))
    }

    /// Starts a program with only the first three descriptors, and without blocked or ignored signals.
    mutating func run(_ words: [String], _ variables: [String]) throws -> pid_t {
        var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
        flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        try closeOthers()
        #endif
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        try Self.check(posix_spawnattr_setflags(&attributes, flags))
        let (argv, envp) = (Self.copies(words), Self.copies(variables))
        defer { for word in argv + envp { free(word) } }
        var identifier: pid_t = 0
        try Self.check(posix_spawn(&identifier, words[0], &actions, &attributes, argv, envp))
        return identifier
    }

    #if os(Linux)
    /// Closes at the start, so that descriptors opened by other threads are included. Older systems close only what is open now.
    private mutating func closeOthers() throws {
        typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        if let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
            return try Self.check(unsafeBitCast(symbol, to: Function.self)(&actions, 3))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let descriptor = Int32(name), descriptor > 2 else { continue }
            try Self.check(posix_spawn_file_actions_addclose(&actions, descriptor))
        }
    }
    #endif

    private static func check(_ code: Int32) throws {
        if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
}
#endif
