/// The reason why a text isn't XML, or exceeds the reader's bounds: the underlying error of a `DecodingError.dataCorrupted`.
///
/// It describes the place and the expected text. It quotes names in the text, but no values.
public struct XMLSyntaxError: DescribedError, Sendable, Hashable {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// The text ends before its root element does, or has none.
        case truncated
        /// The text isn't well-formed (XML 1.0), such as an end tag without its start tag.
        case syntax
        /// A prefix isn't declared, or is declared in a forbidden way (Namespaces in XML 1.0).
        case namespace
        /// The text has a document type declaration, or refers to an entity that only such a declaration can define.
        case documentType
        /// The text, its depth or the attributes of an element exceed the reader's ``XMLLimits``.
        case limit
    }

    /// The kind of failure.
    public let kind: Kind
    /// The path of the open elements, such as `/order/item`; `/` outside the root.
    public let path: String
    /// The line, counted from 1.
    public let line: Int
    /// The character in the line, counted from 1.
    public let column: Int
    /// The description of the fault, without the place.
    public let message: String

    /// The message with the place.
    public var description: String { "\(message) (\(path), line \(line), column \(column))." }
}

/// The line and the column of a place in a text.
struct XMLPosition: Hashable {
    let line: Int
    let column: Int

    /// Counts lines and characters up to an offset. Only errors need this.
    init(offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        let head = text[..<min(max(offset, 0), text.count)]
        var (line, start) = (1, 0)
        for (index, byte) in head.enumerated() {
            // A carriage return alone ends a line, too.
            if byte == 0x0A || byte == 0x0D && !(index + 1 < text.count && text[index + 1] == 0x0A) {
                line += 1
                start = index + 1
            }
        }
        self.line = line
        column = head[min(start, head.count)...].count { $0 & 0xC0 != 0x80 } + 1
    }
}

/// The bounds of a text that is read. A text over a bound is an error.
public struct XMLLimits: Sendable, Hashable {
    /// The maximum size in bytes of UTF-8, up to ``largestSize``. Default: 64 MiB.
    public var size = 64 << 20
    /// The maximum nesting of elements, 1 to ``greatestDepth``. Default: 512.
    public var depth = XMLLimits.greatestDepth
    /// The maximum number of attributes and namespace declarations of one element. Default: 1,000.
    public var attributes = 1_000

    /// The maximum depth limit, 512: decoding deeper values could overflow a thread's stack.
    public static let greatestDepth = 512
    /// The maximum size limit: 1 GiB.
    public static let largestSize = 1 << 30

    /// Creates the default bounds.
    public init() {}

    var boundedSize: Int { min(max(size, 0), Self.largestSize) }
    var boundedDepth: Int { min(max(depth, 1), Self.greatestDepth) }
    var boundedAttributes: Int { max(attributes, 0) }
}

/// The treatment of a document type declaration, `<!DOCTYPE …>`.
///
/// Its entities and default attributes are never used, and nothing that it names is loaded: a reference to one of its entities is an error.
public enum XMLDocumentType: Sendable, Hashable {
    /// It is an error, which is the default.
    case refused
    /// It is skipped, as old feeds and XHTML need.
    case skipped
}
