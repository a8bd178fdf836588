package import Foundation

/// Why a value can't be made from a body, or a body from a value, where neither the encoder nor the decoder has an error of its own.
public struct SerializationError: DescribedError, Sendable {
    /// What sort of failure.
    public enum Kind: Sendable, Hashable {
        /// The body is of another format than is needed, such as HTML where JSON is expected.
        case format
        /// The root that `decoding(at:)` names isn't in the payload.
        case root
        /// The charset is unknown, or the bytes are none of it.
        case charset
        /// A text can't be read as the simple value that is needed.
        case value
        /// The type has a structure, and the format has none, or less of one.
        case structure
        /// The value can't be written in this format.
        case encoding
        /// A registry of serializers has an entry that can't work.
        case registration
    }

    /// What sort of failure.
    public let kind: Kind
    /// What happened and what to do, as a sentence.
    public let message: String
    /// The decoder's own error, where there is one.
    public let cause: (any Error)?

    /// An error.
    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = VisibleText.of(message, keepsLineEnds: true)
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}

extension SerializationError {
    /// The beginning of a text on one line, for a message.
    package static func excerpt(_ text: String, upTo limit: Int = 80) -> String {
        let head = text.prefix(limit + 1)
        let line = head.prefix(limit).split(whereSeparator: \.isNewline).joined(separator: " ")
        return VisibleText.of(head.count > limit ? line + "…" : line)
    }

    /// The beginning of a body on one line, for a message, secrets masked; told by its length when it is no text.
    package static func excerpt(_ body: Data, upTo limit: Int = 80) -> String {
        let head = body.prefix(limit * 4)
        guard !head.contains(where: { $0 < 9 }) else { return "\(body.count) bytes that are no text" }
        let text = SecretMask.beginning(ofBody: body, contentType: nil, upTo: limit * 4, isCut: false).text
        return "“" + excerpt(text, upTo: limit) + "”"
    }
}
