import Foundation

/// Why a connection can't be used.
struct ConnectionFault: Error, Sendable {
    let message: String

    static func last(_ call: String) -> ConnectionFault {
        ConnectionFault(message: "\(call): \(String(cString: strerror(errno)))")
    }
}
