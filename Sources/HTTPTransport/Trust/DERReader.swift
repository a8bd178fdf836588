/// Reads elements in the distinguished encoding rules of ASN.1 (ITU-T X.690): tag, length, content.
///
/// The reader is strict: a length must be definite, in its shortest form, and within the enclosing element. It supports only one-byte tags,
/// which suffice for certificates. It parses only headers and descends only on request, so nesting has no cost.
struct DERReader {
    /// An element: its range with the header, and the range of its content.
    struct Element {
        let tag: UInt8
        let whole: Range<Int>
        let content: Range<Int>
    }

    /// A violation of the encoding rules or of the expected structure.
    struct Fault: Error {
        /// The violation and its byte position.
        let message: String
    }

    /// The tags used in certificates.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let objectIdentifier: UInt8 = 0x06
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        /// A context-specific tag of a constructed element, such as `[0]`.
        static func context(_ number: UInt8) -> UInt8 { 0xa0 | number }
    }

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Creates a reader for the elements in a range of the bytes.
    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        let range = (range ?? bytes.indices).clamped(to: bytes.indices)
        position = range.lowerBound
        end = range.upperBound
    }

    /// Returns a reader for the elements inside an element.
    func inside(_ element: Element) -> DERReader {
        DERReader(bytes, in: element.content)
    }

    /// Whether all elements have been read.
    var isAtEnd: Bool { position >= end }

    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Reads the next element, which must have the given tag.
    mutating func read(_ tag: UInt8, _ name: String) throws(Fault) -> Element {
        guard let next = nextTag else { throw Fault(message: "\(name) is missing at byte \(position)") }
        guard next == tag else { throw Fault(message: "byte \(position) has tag \(next), but \(name) needs tag \(tag)") }
        return try read()
    }

    /// Reads the next element.
    mutating func read() throws(Fault) -> Element {
        let start = position
        guard end - start >= 2 else { throw Fault(message: "an element at byte \(start) is cut short") }
        let tag = bytes[start]
        guard tag & 0x1f != 0x1f else { throw Fault(message: "the tag at byte \(start) has more than one byte") }
        var cursor = start + 2
        var length = Int(bytes[start + 1])
        if length >= 0x80 {
            let count = length & 0x7f
            guard count > 0 else { throw Fault(message: "the length at byte \(start + 1) is indefinite, which DER doesn't allow") }
            // Four bytes allow 4 GiB, more than any certificate, so the sums below can't overflow.
            guard count <= 4, end - cursor >= count else {
                throw Fault(message: "the length at byte \(start + 1) is longer than what follows")
            }
            length = bytes[cursor..<cursor + count].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80, bytes[cursor] != 0 else {
                throw Fault(message: "the length at byte \(start + 1) isn't in its shortest form")
            }
            cursor += count
        }
        guard length <= end - cursor else {
            throw Fault(message: "the element at byte \(start) has a length of \(length) bytes, but only \(end - cursor) follow")
        }
        position = cursor + length
        return Element(tag: tag, whole: start..<position, content: cursor..<position)
    }

    /// Checks that no element follows.
    func expectEnd(of name: String) throws(Fault) {
        guard isAtEnd else { throw Fault(message: "\(end - position) extra bytes follow \(name) at byte \(position)") }
    }
}
