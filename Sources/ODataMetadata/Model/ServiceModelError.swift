public import Foundation

/// The reason why a document can't be read as the model of a service.
public struct ServiceModelError: Error, Sendable, Hashable {
    /// The kind of an error.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The document is neither XML nor JSON, or not well-formed.
        case malformed
        /// The document is XML or JSON, but has no schema.
        case noSchema
        /// The document has a document type declaration, which CSDL doesn't use.
        case documentType
        /// The document nests too deeply.
        case tooDeep
        /// The document is too large.
        case tooLarge
    }

    /// The kind.
    public let kind: Kind
    /// The fault and its fix, in a sentence.
    public let message: String
    /// The line, from 1; 0 if it isn't known.
    public let line: Int
    /// The column, from 1; 0 if it isn't known.
    public let column: Int

    /// Creates an error.
    public init(kind: Kind, message: String, line: Int = 0, column: Int = 0) {
        self.kind = kind
        self.message = message
        self.line = line
        self.column = column
    }
}

extension ServiceModelError: CustomStringConvertible, LocalizedError {
    /// The position and the message.
    public var description: String { line > 0 ? "Line \(line), column \(column): \(message)" : message }
    /// The description.
    public var errorDescription: String? { description }
}

extension ServiceModel {
    /// The limits of a reader of metadata.
    public struct Limits: Sendable, Hashable {
        /// The maximum size of a document, in bytes. Default: 64 MiB.
        public var size: Int
        /// The maximum nesting of elements, or of objects and arrays. Default: 100; at most 200.
        public var depth: Int

        /// The defaults.
        public static let standard = Limits()

        /// Creates limits.
        public init(size: Int = 64 << 20, depth: Int = 100) {
            self.size = size
            self.depth = depth
        }
    }
}
