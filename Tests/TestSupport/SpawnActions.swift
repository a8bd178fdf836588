#if os(Linux) || os(macOS)
import Foundation

/// What `posix_spawn` does between the fork and the program's start.
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

    /// Frees it.
    mutating func end() {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }

    /// Makes a descriptor of the program a copy of one here, or of the null device.
    mutating func set(_ target: Int32, to source: Int32?) {
        guard let source else {
            posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
            return
        }
        posix_spawn_file_actions_adddup2(&actions, source, target)
    }

    /// Starts a program that has the first three descriptors only, blocks no signals and ignores none.
    mutating func run(_ words: [String], _ variables: [String]) throws -> pid_t {
        var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
        flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        closeOthers()
        #endif
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, flags)
        let (argv, envp) = (Self.copies(words), Self.copies(variables))
        defer { for word in argv + envp { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, words[0], &actions, &attributes, argv, envp)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        return identifier
    }

    #if os(Linux)
    /// At the moment of the start, so that nothing is missed that other threads open meanwhile. Older systems don't have it: there the program
    /// inherits what isn't closed by itself.
    private mutating func closeOthers() {
        typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(symbol, to: Function.self)(&actions, 3)
    }
    #endif

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
}
#endif
