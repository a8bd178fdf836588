/// The one place where the library itself speaks: table faults, fallbacks, retries, what it had to leave out.
public struct Diagnostics: Sendable {
    /// Something that the library has to say.
    public struct Event: Sendable, CustomStringConvertible {
        /// How much it matters.
        public enum Level: String, Sendable {
            /// Of use to someone who looks for a fault.
            case debug
            /// Worth knowing.
            case notice
            /// Something is wrong or was left out.
            case warning
        }

        /// How much it matters.
        public let level: Level
        /// The call that it is about, if there is one.
        public let call: CallIdentity?
        /// What happened, as a sentence without secrets.
        public let message: String

        /// An event.
        public init(_ level: Level, _ message: String, call: CallIdentity? = nil) {
            self.level = level
            self.message = VisibleText.of(message, keepsLineEnds: true)
            self.call = call
        }

        /// Level, call and message on a line.
        public var description: String {
            "[\(level.rawValue)] " + (call.map { "\($0): " } ?? "") + message
        }
    }

    private let receive: (@Sendable (Event) -> Void)?

    /// Diagnostics that nobody listens to.
    public init() {
        receive = nil
    }

    /// Diagnostics that go to a closure. It is called on whatever thread the event happens on, and should return at once.
    public init(_ receive: @escaping @Sendable (Event) -> Void) {
        self.receive = receive
    }

    /// Passes an event on. The event isn't made when nobody listens.
    public func report(_ event: @autoclosure () -> Event) {
        receive?(event())
    }
}
