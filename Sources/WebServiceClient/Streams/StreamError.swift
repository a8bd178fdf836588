/// An error in a stream of values: the place in the stream, the fault and its fix.
///
/// Streams of declared calls throw a ``ServiceError`` with this error as its cause.
public struct StreamError: DescribedError, Sendable {
    /// The kinds of faults.
    public enum Kind: String, Sendable, CaseIterable {
        /// An element can't be decoded; the cause is the decoder's error.
        case decoding
        /// The stream ended within an element, or before its end mark or its last delimiter.
        case truncated
        /// A line, an event, an element or a part's fields exceed their limit.
        case tooLarge
        /// The body isn't a stream of the expected format.
        case format
        /// An event reports an error of the service, as ``EndpointDescriptor/failsStream(atEvent:)`` declares: see ``event``.
        case reported
        /// The stream is read a second time, or from two tasks at once.
        case misuse
        /// The stream can't be reconnected.
        case reconnection
    }

    /// The kind of fault.
    public let kind: Kind
    /// The place in the stream; `nil` for faults of the whole stream.
    public let place: StreamPlace?
    /// What happened and how to fix it, without the place.
    public let message: String
    /// The underlying error, such as a `DecodingError`.
    public let cause: (any Error)?
    /// The event that reports an error of the service.
    public internal(set) var event: ServerEvent?

    init(_ kind: Kind, _ message: String, at place: StreamPlace? = nil, cause: (any Error)? = nil) {
        self.kind = kind
        self.place = place
        self.message = VisibleText.of(message, keepsLineEnds: true)
        self.cause = cause
    }

    /// The place and the message.
    public var description: String { place.map { "\($0): \(message)" } ?? message }

    /// The error for an element that can't be decoded.
    static func undecodable(_ type: any Any.Type, at place: StreamPlace, _ cause: any Error) -> StreamError {
        if let error = cause as? StreamError { return error }
        return StreamError(
            .decoding, "the element can't be read as \(type): \(DecodingErrorText.text(of: cause))", at: place, cause: cause)
    }

    /// The error for something larger than its limit in bytes.
    static func tooLarge(_ what: String, _ limit: Int, at place: StreamPlace?) -> StreamError {
        StreamError(
            .tooLarge, "\(what) is larger than the limit of \(limit) bytes: raise the limit (bodyLimit for a declared call) if it is valid",
            at: place)
    }

    /// The error of a second reader.
    static let readTwice = StreamError(
        .misuse, "The stream has been read, or another task reads it: a stream of values has one reader; make the call again.")
}

/// A place in a stream of values.
public struct StreamPlace: Sendable, Hashable, CustomStringConvertible {
    /// The number of the element, event or part, counted from 1.
    public var element: Int
    /// The number of its first line, counted from 1, in formats of lines.
    public var line: Int?
    /// The offset of its first byte in the body, counted from 0; `nil` if it is unknown.
    public var byte: Int?
    /// The type of the event; `nil` for other elements.
    public var event: String?

    /// The parts that are known, such as `event 3 (delta), line 12, byte 480`.
    public var description: String {
        var text = event.map { "event \(element) (\(VisibleText.of($0)))" } ?? "element \(element)"
        if let line { text += ", line \(line)" }
        if let byte { text += ", byte \(byte)" }
        return text
    }
}
