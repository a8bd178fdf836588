/// Walks over elements in the distinguished encoding rules of ASN.1 (ITU-T X.690): tag, length, content.
///
/// It is strict: a length must be definite, in its shortest form, and end within what encloses the element; tags are those of one byte,
/// which are all that a certificate has. It looks at headers only and goes down only where it is told to, so that nesting costs nothing.
struct DERReader {
    /// One element: where it stands with its header, and where its content stands.
    struct Element {
        let tag: UInt8
        let whole: Range<Int>
        let content: Range<Int>
    }

    /// What isn't as the encoding rules or the expected structure want it.
    struct Fault: Error {
        /// What, and at which byte.
        let message: String
    }

    /// The tags that certificates are made of.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        /// A tag of the context, such as `[0]`, of a constructed element.
        static func context(_ number: UInt8) -> UInt8 { 0xa0 | number }
    }

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Walks over the elements in a part of the bytes.
    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        let range = (range ?? bytes.indices).clamped(to: bytes.indices)
        position = range.lowerBound
        end = range.upperBound
    }

    /// Walks over the elements inside an element.
    func inside(_ element: Element) -> DERReader {
        DERReader(bytes, in: element.content)
    }

    /// Whether all was read.
    var isAtEnd: Bool { position >= end }

    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

    /// The next element, which must have that tag.
    mutating func read(_ tag: UInt8, _ name: String) throws(Fault) -> Element {
        guard let next = nextTag else { throw Fault(message: "\(name) is missing at byte \(position)") }
        guard next == tag else { throw Fault(message: "at byte \(position) stands tag \(next) where \(name) with tag \(tag) is expected") }
        return try read()
    }

    /// The next element.
    mutating func read() throws(Fault) -> Element {
        let start = position
        guard end - start >= 2 else { throw Fault(message: "an element at byte \(start) is cut short") }
        let tag = bytes[start]
        guard tag & 0x1f != 0x1f else { throw Fault(message: "the tag at byte \(start) has more than one byte") }
        var cursor = start + 2
        var length = Int(bytes[start + 1])
        if length >= 0x80 {
            let count = length & 0x7f
            guard count > 0 else { throw Fault(message: "the length at byte \(start + 1) is indefinite, as DER doesn't allow") }
            // Four bytes are 4 GiB, beyond any certificate; no sum below can overflow.
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
            throw Fault(message: "the element at byte \(start) says \(length) bytes, and \(end - cursor) are there")
        }
        position = cursor + length
        return Element(tag: tag, whole: start..<position, content: cursor..<position)
    }

    /// Nothing may follow.
    func expectEnd(of name: String) throws(Fault) {
        guard isAtEnd else { throw Fault(message: "after \(name) stand \(end - position) bytes too many, from byte \(position)") }
    }
}
