import Foundation

/// Receives the library's diagnostics: table faults, fallbacks, retries, dropped data.
public struct Diagnostics: Sendable {
    /// A diagnostic event.
    public struct Event: Sendable, CustomStringConvertible {
        /// The severity of an event.
        public enum Level: String, Sendable {
            /// Useful for debugging.
            case debug
            /// Normal but significant.
            case notice
            /// A fault, or data was dropped.
            case warning
        }

        /// The severity.
        public let level: Level
        /// The call that the event concerns, if any.
        public let call: CallIdentity?
        /// What happened, as a sentence without secrets.
        public let message: String

        /// Creates an event.
        public init(_ level: Level, _ message: String, call: CallIdentity? = nil) {
            self.level = level
            self.message = VisibleText.of(message, keepsLineEnds: true)
            self.call = call
        }

        /// The level, call and message on one line.
        public var description: String {
            "[\(level.rawValue)] " + (call.map { "\($0): " } ?? "") + message
        }
    }

    private let receive: (@Sendable (Event) -> Void)?

    /// Creates diagnostics that are discarded.
    public init() {
        receive = nil
    }

    /// Creates diagnostics that are passed to a closure. It is called on the thread where the event occurs, and should return quickly.
    public init(_ receive: @escaping @Sendable (Event) -> Void) {
        self.receive = receive
    }

    /// Reports an event. Without a receiver, the event isn't created.
    public func report(_ event: @autoclosure () -> Event) {
        receive?(event())
    }
}

/// Writes to standard error and ignores failures.
package enum StandardError {
    /// Writes a text unchanged.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
