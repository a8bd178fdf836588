import CSystemLibraries
public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps a token in a file that only the process's user can read, for programs that continue a session, and for several processes with one
/// session.
///
///     let store = FileTokenStore(folder.appending(path: "session.json"))
///     $0.authenticationProvider = BearerTokenProvider(.refreshToken(of: identity), store: store)
///
/// * The file has the mode 0600 and is replaced atomically: after a crash it has the previous token or the new one. Missing folders are
///   created with the mode 0700.
/// * A file that other users can access isn't read: that is an error.
/// * While a process refreshes the token, it holds a lock on the file with the additional suffix `.lock`, which stays there. Others wait, then
///   read the new token instead of sending the old refresh token a second time. The system releases the lock of a process that ends.
/// * The token isn't encrypted. Use the platform's keychain, with a ``TokenStore`` of your own, where there is one.
public struct FileTokenStore: TokenStore {
    private let path: String
    private let clock = CallClock.current

    /// The time between two attempts to lock the file. The system has no way to wait for a lock without a thread.
    private static let lockInterval = Duration.milliseconds(25)
    /// The most bytes that are read.
    private static let sizeLimit: Int64 = 1 << 20

    /// Creates a store on a file, which needn't exist.
    public init(_ file: URL) {
        path = file.path(percentEncoded: false)
    }

    /// Returns the token in the file; `nil` if the file doesn't exist.
    ///
    /// - Throws: ``TokenStoreError`` if the file can't be read, isn't a token's, or other users can access it.
    public func load() async throws -> BearerToken? {
        let descriptor = openFile(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw fault("can't be read", errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = csl_file_status()
        guard csl_status_of_file(descriptor, &status) == 0 else { throw fault("can't be read", errno) }
        guard status.is_regular, status.size <= Self.sizeLimit else {
            throw TokenStoreError(message: "\(name) isn't the file of a token: name another file.")
        }
        guard status.is_private else {
            throw TokenStoreError(
                message: "Other users can access the token in \(name): revoke it if they may have read it, and restrict the file by "
                    + "chmod 600.")
        }
        guard let data = try? file.readToEnd() ?? Data(), let token = try? JSONDecoder().decode(BearerToken.self, from: data) else {
            throw TokenStoreError(message: "\(name) has no readable token: remove the file, and sign in again.")
        }
        return token
    }

    /// Replaces the token in the file, or removes the file.
    ///
    /// - Throws: ``TokenStoreError`` if the file can't be written. Its previous content is kept.
    public func save(_ token: BearerToken?) async throws {
        guard let token else {
            guard unlink(path) == 0 || errno == ENOENT else { throw fault("can't be removed", errno) }
            return
        }
        try createFolder()
        let temporary = "\(path).\(UUID().uuidString)"
        let descriptor = openFile(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("can't be written", errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try file.write(contentsOf: encoder.encode(token))
            // Without it, a file system may rename the file before it writes the content.
            try file.synchronize()
            try file.close()
        } catch {
            unlink(temporary)
            throw TokenStoreError(message: "The token can't be written to \(name): is the disk full?")
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw fault("can't be replaced", code)
        }
    }

    /// Runs a body while no other process or store has the lock. It waits for the lock until its task is cancelled.
    ///
    /// - Throws: ``TokenStoreError`` if the lock file can't be created; `CancellationError`; the errors of the body.
    public func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try createFolder()
        let descriptor = openFile(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("can't be locked", errno) }
        // Closing the file releases the lock.
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw fault("can't be locked", errno) }
            try await clock.sleep(Self.lockInterval, unless: CallCancellation())
        }
        defer { try? file.close() }
        return try await body()
    }

    private var name: String { (path as NSString).lastPathComponent }

    private func createFolder() throws {
        let folder = (path as NSString).deletingLastPathComponent
        guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw TokenStoreError(message: "The folder of \(name) can't be created: check its parent's permissions.")
        }
    }

    private func fault(_ what: String, _ code: Int32) -> TokenStoreError {
        let reason = String(cString: strerror(code)).lowercased()
        return TokenStoreError(message: "\(name) \(what) (\(reason)): check the permissions of the file and its folder.")
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

extension FileTokenStore: CustomStringConvertible {
    /// The file's name.
    public var description: String { "token store in \(name)" }
}
