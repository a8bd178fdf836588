import OData

/// Reads a part of a URL from left to right, as percent-decoded bytes with their offsets in the text.
///
/// The text is split at `?`, `&` and the first `=` before it is decoded, as servers do.
struct QueryReader {
    /// The maximum height of an expression tree and depth of options: the printer's limit.
    static let heightLimit = QueryPrinter.depthLimit
    /// The maximum nesting depth while reading expressions; some take two steps for one level of the tree.
    static let depthLimit = 200
    /// The maximum number of options in a query, and of operators, list elements and segments in each; trees are released link by link.
    static let countLimit = 10_000

    let bytes: [UInt8]
    /// The offset of each byte in the text, and of the end.
    private let offsets: [Int]
    var index = 0
    let version: ODataVersion
    let names: ServiceNames?
    /// A Boolean value that indicates whether the text is part of a path, where an unencoded `/` is always a separator.
    let isPath: Bool
    var depth = 0
    private var count = 0
    /// The lambda variables in scope, innermost last.
    var variables: [(name: String, variable: LambdaVariable)] = []

    init(
        _ text: some Collection<UInt8>, at start: Int, isPath: Bool = false, version: ODataVersion, names: ServiceNames?
    ) throws(QueryParsingError) {
        var bytes: [UInt8] = []
        var offsets: [Int] = []
        bytes.reserveCapacity(text.count)
        offsets.reserveCapacity(text.count + 1)
        let source = Array(text)
        var index = 0
        while index < source.count {
            offsets.append(start + index)
            guard source[index] == 0x25 else {
                bytes.append(source[index])
                index += 1
                continue
            }
            guard index + 2 < source.count, let high = DigitText.hexadecimalDigit(source[index + 1]),
                let low = DigitText.hexadecimalDigit(source[index + 2])
            else {
                throw QueryParsingError(position: start + index, expected: "'%' with two hexadecimal digits", found: "%")
            }
            bytes.append(high << 4 | low)
            index += 3
        }
        offsets.append(start + index)
        self.bytes = bytes
        self.offsets = offsets
        self.version = version
        self.names = names
        self.isPath = isPath
    }

    // MARK: Looking

    var isAtEnd: Bool {
        index == bytes.count
    }

    func byte(_ ahead: Int = 0) -> UInt8? {
        index + ahead < bytes.count ? bytes[index + ahead] : nil
    }

    func isNext(_ character: Unicode.Scalar) -> Bool {
        byte() == UInt8(ascii: character)
    }

    func isNext(_ text: String) -> Bool {
        let wanted = text.utf8
        return index + wanted.count <= bytes.count && bytes[index..<index + wanted.count].elementsEqual(wanted)
    }

    /// Returns whether the byte was percent-encoded.
    func isEncoded(at index: Int) -> Bool {
        offsets[index + 1] - offsets[index] == 3
    }

    // MARK: Moving

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        index += 1
        return true
    }

    mutating func skip(_ text: String) -> Bool {
        guard isNext(text) else { return false }
        index += text.utf8.count
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(QueryParsingError) {
        guard skip(character) else { throw expected("'\(character)'") }
    }

    func expectEnd(_ what: String = "the end or an operator") throws(QueryParsingError) {
        guard isAtEnd else { throw expected(what) }
    }

    /// Skips blanks, which are optional in some places and required in others, and returns whether there were any.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let start = index
        while let next = byte(), next == 0x20 || next == 0x09 { index += 1 }
        return index > start
    }

    /// Enters a nested expression.
    mutating func descend() throws(QueryParsingError) {
        depth += 1
        guard depth <= Self.depthLimit else { throw expected("nesting of at most \(Self.depthLimit) levels") }
    }

    /// Enters a nested level of options, transformations, searches or JSON, which the printer also counts.
    mutating func descendLevel() throws(QueryParsingError) {
        depth += 1
        try check(height: depth)
    }

    /// Checks that the tree isn't too high to print; its left operands add height without recursion of the reader.
    func check(height: Int) throws(QueryParsingError) {
        guard height <= Self.heightLimit else { throw expected("nesting of at most \(Self.heightLimit) levels") }
    }

    /// Counts a part, up to the limit.
    mutating func countOne() throws(QueryParsingError) {
        count += 1
        guard count <= Self.countLimit else { throw expected("a query of at most \(Self.countLimit) parts") }
    }

    // MARK: Errors

    func expected(_ what: String, at place: Int? = nil) -> QueryParsingError {
        let place = min(place ?? index, bytes.count)
        var end = min(place + 12, bytes.count)
        // Avoids splitting a character.
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return QueryParsingError(position: offsets[place], expected: what, found: String(decoding: bytes[place..<end], as: UTF8.self))
    }

    /// Returns the text of a range.
    func text(_ range: Range<Int>) throws(QueryParsingError) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw expected("UTF-8", at: range.lowerBound)
        }
        return text
    }

    /// Reads the remaining text.
    mutating func rest() throws(QueryParsingError) -> String {
        defer { index = bytes.count }
        return try text(index..<bytes.count)
    }
}
