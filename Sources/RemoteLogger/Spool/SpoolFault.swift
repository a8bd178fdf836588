import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A call of the file system that failed.
package struct SpoolFault: DescribedError, Sendable, Hashable {
    /// The system's number of the error.
    package let code: Int32
    /// What was tried, such as `rename`.
    package let call: String
    /// Which path it is, and what to do, where the number alone doesn't tell.
    package let detail: String?

    package init(_ code: Int32, _ call: String, detail: String? = nil) {
        self.code = code
        self.call = call
        self.detail = detail
    }

    /// The fault that `errno` tells of.
    static func last(_ call: String) -> SpoolFault {
        SpoolFault(errno, call)
    }

    /// Whether there is nothing of the name.
    var isMissing: Bool { code == ENOENT }
    /// Whether the medium can't read it.
    var isUnreadable: Bool { code == EIO }

    package var description: String {
        if let detail { return detail }
        return "\(String(cString: strerror(code))) (\(call), errno \(code))"
    }
}
