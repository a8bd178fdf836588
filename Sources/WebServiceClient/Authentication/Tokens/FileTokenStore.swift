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
/// * While a process refreshes the token, it holds a lock on the file with the additional suffix `.lock`, which stays there. Others wait,
///   then read the new token instead of sending the old refresh token a second time. The system releases the lock of a process that ends.
/// * The token isn't encrypted. If the platform has a keychain, use it with a custom ``TokenStore``.
public struct FileTokenStore: TokenStore {
    private let file: PrivateFile
    private let clock = CallClock.current

    /// The time between two attempts to lock the file. The system has no way to wait for a lock without a thread.
    private static let lockInterval = Duration.milliseconds(25)

    /// Creates a store on a file, which needn't exist.
    public init(_ file: URL) {
        self.file = PrivateFile(file)
    }

    /// Returns the token in the file; `nil` if the file doesn't exist.
    ///
    /// - Throws: ``TokenStoreError`` if the file can't be read, isn't a token's, or other users can access it.
    public func load() async throws -> BearerToken? {
        let content: Data?
        do {
            content = try file.read()
        } catch {
            throw fault(error)
        }
        guard let content else { return nil }
        guard let token = try? JSONDecoder().decode(BearerToken.self, from: content) else {
            throw TokenStoreError(message: "\(file.name) has no readable token. Remove the file, and sign in again.")
        }
        return token
    }

    /// Replaces the token in the file, or removes the file.
    ///
    /// - Throws: ``TokenStoreError`` if the file can't be written. Its previous content is kept.
    public func save(_ token: BearerToken?) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data: Data?
        do {
            data = try token.map { try encoder.encode($0) }
        } catch {
            throw TokenStoreError(message: "The token for \(file.name) can't be encoded: \(SecretMask.text("\(error)"))")
        }
        do {
            if let data { try file.replace(with: data) } else { try file.remove() }
        } catch {
            throw fault(error)
        }
    }

    /// Runs a body while no other process or store has the lock. It waits for the lock until its task is cancelled.
    ///
    /// - Throws: ``TokenStoreError`` if the lock file can't be created; `CancellationError`; the errors of the body.
    public func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        do {
            try file.createFolder()
        } catch {
            throw fault(error)
        }
        let descriptor = openFile(file.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("can't be locked", errno) }
        // Closing the file releases the lock.
        let lock = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw fault("can't be locked", errno) }
            try await clock.sleep(Self.lockInterval, unless: CallCancellation())
        }
        defer { try? lock.close() }
        return try await body()
    }

    private func fault(_ failure: PrivateFile.Failure) -> TokenStoreError {
        switch failure.kind {
        case .unfit: TokenStoreError(message: "\(file.name) isn't the file of a token. Name another file.")
        case .shared:
            TokenStoreError(
                message: "Other users can access the token in \(file.name): revoke it if they may have read it, and restrict the file by "
                    + "chmod 600.")
        case .system: TokenStoreError(message: "\(file.name) \(failure.reason)")
        }
    }

    private func fault(_ what: String, _ code: Int32) -> TokenStoreError {
        let reason = String(cString: strerror(code)).lowercased()
        return TokenStoreError(message: "\(file.name) \(what) (\(reason)): check the permissions of the file and its folder.")
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

extension FileTokenStore: CustomStringConvertible {
    /// The file's name.
    public var description: String { "token store in \(file.name)" }
}
