import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file for the keys of secure connections, in NSS's format.
///
/// `@unchecked Sendable`: the memory is written during initialization; after that libcurl's callbacks only read it.
final class CurlKeyLog: @unchecked Sendable {
    /// The file's descriptor, at a stable address.
    let descriptor: UnsafePointer<Int32>
    private let memory: UnsafeMutablePointer<Int32>

    /// Opens the file, or creates it with access for its owner only.
    ///
    /// - Throws: ``TransportError``: `unsupported` without OpenSSL; `badRequest` if the file can't be written, or if others have access to
    ///   it.
    init(_ path: String, _ library: CurlLibrary) throws(TransportError) {
        guard library.readsCertificateChains else {
            throw TransportError(
                .unsupported,
                "A log of keys needs libcurl with OpenSSL, and this is \(library.version) with \(library.tls ?? "no TLS"): remove "
                    + "keyLogFile, or install the other library.")
        }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw TransportError(
                .badRequest,
                "keyLogFile \(path) can't be written (\(reason)): check whether its folder exists and is "
                    + "writable.")
        }
        var status = csl_file_status()
        guard csl_status_of_file(file, &status) == 0, status.is_regular, status.is_private else {
            close(file)
            throw TransportError(
                .badRequest,
                "keyLogFile \(path) must be a file of this user without access for others: remove it, or change its mode to 600.")
        }
        memory = .allocate(capacity: 1)
        memory.initialize(to: file)
        descriptor = UnsafePointer(memory)
    }

    deinit {
        close(memory.pointee)
        memory.deallocate()
    }
}
