public import Foundation

/// An error in a YAML text with its place.
struct YAMLSyntaxError: DescribedError, Sendable, Hashable {
    /// The line, from 1 on.
    let line: Int
    /// The column in characters (Unicode scalars), from 1 on.
    let column: Int
    /// The problem and its fix.
    let problem: String

    var description: String { "line \(line), column \(column): \(problem)" }
}

/// Reads a text in the part of YAML 1.2 that documents such as OpenAPI's use, and writes it as JSON.
///
/// It reads block and flow collections, plain and quoted scalars, literal and folded block scalars, and comments. A scalar's type follows
/// the core schema (YAML 1.2.2 §10.3.2), in which `yes` and `1:30` are texts; infinity and NaN, which JSON doesn't have, are texts too. A
/// key is its text. An alias (`*a`) is the value that has its anchor (`&a`), and `<<` adds the members of other mappings; what they add is
/// bounded. It refuses constructs that make a text different from what it seems: tags, keys that are collections, duplicate keys, several
/// documents, and tabs as indentation.
struct YAMLParser {
    /// The greatest depth of collections.
    static let depthLimit = 100
    /// The longest text, in bytes.
    static let sizeLimit = 64 << 20

    let bytes: [UInt8]
    var position = 0
    /// The JSON text that was written.
    var output: [UInt8] = []
    private(set) var depth = 0
    /// The values that have an anchor.
    var anchors = YAMLAnchors()
    /// Whether scalars have the types of the core schema. Otherwise all are texts.
    private let hasTypes: Bool

    /// Returns a YAML text as JSON.
    ///
    /// - Throws: ``YAMLSyntaxError``.
    static func json(of text: String, hasTypes: Bool = true) throws(YAMLSyntaxError) -> Data {
        var parser = try YAMLParser(text, hasTypes: hasTypes)
        try parser.readDocument()
        return Data(parser.output)
    }

    private init(_ text: String, hasTypes: Bool) throws(YAMLSyntaxError) {
        self.hasTypes = hasTypes
        let source = text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? text.utf8.dropFirst(3) : text.utf8[...]
        guard source.count <= Self.sizeLimit else {
            throw YAMLSyntaxError(line: 1, column: 1, problem: "the text has more than \(Self.sizeLimit) bytes")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var wasReturn = false
        for byte in source {
            // Line ends are line feeds from here on (YAML 1.2.2 §5.4).
            if byte == Byte.return || byte == Byte.lineFeed, !(byte == Byte.lineFeed && wasReturn) { bytes.append(Byte.lineFeed) }
            wasReturn = byte == Byte.return
            if byte != Byte.return, byte != Byte.lineFeed { bytes.append(byte) }
        }
        self.bytes = bytes
        if let control = bytes.firstIndex(where: { $0 < 0x20 && $0 != Byte.lineFeed && $0 != Byte.tab || $0 == 0x7F }) {
            throw error("a control character isn't allowed", at: control)
        }
    }

    // MARK: Places

    /// The byte at the position; 0 at the end.
    var byte: UInt8 { byte(at: position) }

    func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    var isAtEnd: Bool { position >= bytes.count }

    /// Whether a byte separates tokens: a blank, a tab, a line end, or the end of the text.
    func isSpace(at index: Int) -> Bool {
        index >= bytes.count || bytes[index] == Byte.blank || bytes[index] == Byte.tab || bytes[index] == Byte.lineFeed
    }

    /// The start of the line of an index.
    private func lineStart(of index: Int) -> Int {
        var start = min(index, bytes.count)
        while start > 0, bytes[start - 1] != Byte.lineFeed { start -= 1 }
        return start
    }

    /// The indentation of the token at the position: the number of bytes before it in its line.
    private var column: Int { position - lineStart(of: position) }

    func error(_ problem: String, at index: Int) -> YAMLSyntaxError {
        let start = lineStart(of: index)
        let line = bytes[..<start].count { $0 == Byte.lineFeed } + 1
        // The bytes after the first of a character begin with 10.
        let column = bytes[start..<max(start, min(index, bytes.count))].count { $0 & 0xC0 != 0x80 } + 1
        return YAMLSyntaxError(line: line, column: column, problem: problem)
    }

    // MARK: Space

    /// Skips blanks, line ends and comments.
    ///
    /// - Returns: Whether a line end was skipped.
    @discardableResult
    mutating func skipSpace() throws(YAMLSyntaxError) -> Bool {
        var hasLineEnd = position == 0
        while !isAtEnd {
            switch byte {
            case Byte.blank, Byte.tab: position += 1
            case Byte.lineFeed:
                position += 1
                hasLineEnd = true
            case Byte.hash where position == 0 || isSpace(at: position - 1):
                while !isAtEnd, byte != Byte.lineFeed { position += 1 }
            default: return hasLineEnd
            }
        }
        return hasLineEnd
    }

    /// Skips the space before a token of a block, whose indentation must be of blanks.
    private mutating func skipToBlock() throws(YAMLSyntaxError) {
        guard try skipSpace(), !isAtEnd else { return }
        let start = lineStart(of: position)
        if let tab = bytes[start..<position].firstIndex(of: Byte.tab) { throw error("a tab can't indent: use blanks", at: tab) }
    }

    /// Skips blanks and tabs.
    mutating func skipBlanks() {
        while byte == Byte.blank || byte == Byte.tab { position += 1 }
    }

    /// Whether the position is at a marker of documents: `---` or `...` at the start of a line.
    var isAtMarker: Bool {
        guard position == 0 || bytes[position - 1] == Byte.lineFeed, position + 3 <= bytes.count, isSpace(at: position + 3) else {
            return false
        }
        let mark = bytes[position..<(position + 3)]
        return mark.allSatisfy { $0 == Byte.dash } || mark.allSatisfy { $0 == Byte.dot }
    }

    // MARK: Documents

    private mutating func readDocument() throws(YAMLSyntaxError) {
        try skipToBlock()
        while byte == Byte.percent, column == 0 {
            guard bytes[position...].starts(with: "%YAML ".utf8) else { throw error("only the directive %YAML is read", at: position) }
            while !isAtEnd, byte != Byte.lineFeed { position += 1 }
            try skipToBlock()
        }
        if isAtMarker, byte == Byte.dash {
            position += 3
            try skipToBlock()
        }
        if isAtEnd || isAtMarker { write(null: ()) } else { try readBlock(under: -1) }
        try skipToBlock()
        if isAtMarker, byte == Byte.dot {
            position += 3
            try skipToBlock()
        }
        guard !isAtEnd else { return }
        throw error(
            isAtMarker ? "the text has a second document" : "the document goes on after its end: check the indentation", at: position)
    }

    // MARK: Blocks

    /// Reads the node at the position, which is the first byte of a token.
    ///
    /// - Parameters:
    ///   - indentation: The indentation of the collection around the node; lines of the node have more.
    ///   - mayNest: Whether the node may be a collection in block style.
    private mutating func readBlock(under indentation: Int, mayNest: Bool = true) throws(YAMLSyntaxError) {
        let start = position
        if byte == Byte.asterisk {
            try readAlias()
            return try expectLineEnd()
        }
        if byte == Byte.ampersand { return try readAnchored(under: indentation, isInline: !mayNest) }
        try checkIndicator()
        if byte == Byte.dash, isSpace(at: position + 1) {
            guard mayNest else { throw error("a list can't begin after a key: put it on the next line", at: start) }
            return try readSequence()
        }
        if byte == Byte.bar || byte == Byte.greater { return try readBlockScalar(under: indentation) }
        if byte == Byte.openBracket || byte == Byte.openBrace {
            try readFlow()
            skipBlanks()
            if byte == Byte.colon, isSpace(at: position + 1) { throw error("a collection as a key isn't read", at: start) }
            return try expectLineEnd()
        }
        // A scalar is a key if a colon follows it in its line.
        if let key = try implicitKey() {
            guard mayNest else { throw error("a second key is in the line: put it on the next line, or quote the value", at: start) }
            return try readMapping(key, at: start)
        }
        let isQuoted = byte == Byte.quote || byte == Byte.apostrophe
        let scalar = isQuoted ? try readQuoted() : try readPlain(under: indentation)
        if isQuoted { try expectLineEnd() }
        write(scalar, isPlain: !isQuoted)
    }

    /// Reads an anchor and its value, which may be on the next line.
    ///
    /// - Parameter isInline: Whether the anchor is in the line of a key.
    private mutating func readAnchored(under indentation: Int, isInline: Bool) throws(YAMLSyntaxError) {
        let anchor = try beginAnchor()
        skipBlanks()
        if isAtEnd || byte == Byte.lineFeed || byte == Byte.hash {
            try readNextLine(under: indentation, mayBeList: isInline)
        } else {
            // In one line, the anchor would be the key's.
            try readBlock(under: indentation, mayNest: false)
        }
        try endAnchor(anchor)
    }

    /// Refuses what begins with an indicator that isn't read (YAML 1.2.2 §5.3).
    func checkIndicator() throws(YAMLSyntaxError) {
        switch byte {
        case Byte.ampersand, Byte.asterisk:
            throw error("an anchor or an alias as a key isn't read: write the key out", at: position)
        case UInt8(ascii: "!"): throw error("tags aren't read: remove it", at: position)
        case UInt8(ascii: "@"), UInt8(ascii: "`"), Byte.percent:
            throw error("a value can't begin with \(Character(Unicode.Scalar(byte))): quote it", at: position)
        case UInt8(ascii: "?") where isSpace(at: position + 1): throw error("a key with ? isn't read: write \"key: value\"", at: position)
        default: break
        }
    }

    private mutating func expectLineEnd() throws(YAMLSyntaxError) {
        let start = position
        skipBlanks()
        guard isAtEnd || byte == Byte.lineFeed || byte == Byte.hash && position > start else {
            throw error("the line goes on after the value: separate it with a comma or a line end, or quote the value", at: position)
        }
    }

    /// Reads a key with its colon. If the scalar at the position isn't a key, nothing is read.
    private mutating func implicitKey() throws(YAMLSyntaxError) -> [UInt8]? {
        let start = position
        var key: [UInt8]
        if byte == Byte.quote || byte == Byte.apostrophe {
            guard let end = endOfQuoted(), !bytes[start..<end].contains(Byte.lineFeed) else { return nil }
            key = try readQuoted()
        } else {
            guard isPlainStart(inFlow: false) else { return nil }
            key = readPlainLine(inFlow: false)
        }
        skipBlanks()
        guard byte == Byte.colon, isSpace(at: position + 1) else {
            position = start
            return nil
        }
        position += 1
        return key
    }

    private mutating func readMapping(_ first: [UInt8], at start: Int) throws(YAMLSyntaxError) {
        try enter(at: start)
        let indentation = start - lineStart(of: start)
        var members = YAMLMembers()
        var (key, place) = (first, start)
        output.append(Byte.openBrace)
        while true {
            let begin = try begin(key, at: place, of: &members)
            try readValue(ofKeyAt: indentation)
            try end(key, at: place, begin, of: &members)
            try skipToBlock()
            guard !isAtEnd, !isAtMarker, column == indentation else { break }
            place = position
            try checkIndicator()
            guard !(byte == Byte.dash && isSpace(at: position + 1)), let next = try implicitKey() else {
                throw error("a key with a colon is expected here", at: place)
            }
            key = next
        }
        try expectOuterToken(than: indentation)
        close(&members)
        depth -= 1
    }

    private mutating func readValue(ofKeyAt indentation: Int) throws(YAMLSyntaxError) {
        skipBlanks()
        guard isAtEnd || byte == Byte.lineFeed || byte == Byte.hash && isSpace(at: position - 1) else {
            return try readBlock(under: indentation, mayNest: false)
        }
        try readNextLine(under: indentation, mayBeList: true)
    }

    /// Reads a value that begins on the next line, if that has more indentation.
    ///
    /// - Parameter mayBeList: Whether the elements of a list may have the same indentation, as in the list of a key.
    private mutating func readNextLine(under indentation: Int, mayBeList: Bool) throws(YAMLSyntaxError) {
        try skipToBlock()
        guard !isAtEnd, !isAtMarker else { return write(null: ()) }
        let isList = mayBeList && byte == Byte.dash && isSpace(at: position + 1)
        guard column > indentation || column == indentation && isList else { return write(null: ()) }
        try readBlock(under: column == indentation ? indentation - 1 : indentation)
    }

    private mutating func readSequence() throws(YAMLSyntaxError) {
        try enter(at: position)
        let indentation = column
        output.append(Byte.openBracket)
        var isFirst = true
        while !isAtEnd, !isAtMarker, column == indentation, byte == Byte.dash, isSpace(at: position + 1) {
            if !isFirst { output.append(Byte.comma) }
            isFirst = false
            position += 1
            let dash = position
            skipBlanks()
            if isAtEnd || byte == Byte.lineFeed || byte == Byte.hash {
                try readNextLine(under: indentation, mayBeList: false)
            } else {
                // Blanks after the dash are indentation, if a collection follows.
                let hasTab = bytes[dash..<position].contains(Byte.tab)
                let depthBefore = output.count
                let place = position
                try readBlock(under: indentation)
                let opening = output[depthBefore]
                let isCollection = opening == Byte.openBrace || opening == Byte.openBracket
                if hasTab, isCollection, bytes[place] != opening, bytes[place] != Byte.asterisk {
                    throw error("a tab can't indent: use blanks", at: dash)
                }
            }
            try skipToBlock()
        }
        try expectOuterToken(than: indentation)
        output.append(Byte.closeBracket)
        depth -= 1
    }

    /// Expects the end of a collection: what follows has less indentation, or the same after a list of a key.
    private func expectOuterToken(than indentation: Int) throws(YAMLSyntaxError) {
        guard !isAtEnd, !isAtMarker, column > indentation else { return }
        throw error("the line has more indentation than the collection that it is in", at: position)
    }

    mutating func enter(at start: Int) throws(YAMLSyntaxError) {
        depth += 1
        try reach(depth, at: start)
    }

    /// Checks the depth of a collection.
    mutating func reach(_ depth: Int, at start: Int) throws(YAMLSyntaxError) {
        guard depth <= Self.depthLimit else { throw error("collections are nested deeper than \(Self.depthLimit)", at: start) }
        anchors.deepest = max(anchors.deepest, depth)
    }

    mutating func leave() { depth -= 1 }

    // MARK: Writing

    mutating func write(null: Void) { output += hasTypes ? Array("null".utf8) : Array("\"\"".utf8) }

    /// Writes a scalar: a plain one with the type that it has in the core schema.
    mutating func write(_ scalar: [UInt8], isPlain: Bool) {
        if isPlain, hasTypes, let json = YAMLScalar.json(of: scalar) { output += json } else { write(text: scalar) }
    }

    /// Writes a text as a JSON string.
    mutating func write(text: [UInt8]) { output += Self.quoted(text) }

    /// A text as a JSON string.
    static func quoted(_ text: [UInt8]) -> [UInt8] {
        var quoted = [Byte.quote]
        quoted.reserveCapacity(text.count + 2)
        for byte in text {
            switch byte {
            case Byte.quote, Byte.backslash: quoted += [Byte.backslash, byte]
            case 0..<0x20: quoted += Array("\\u00".utf8) + [Byte.digits[Int(byte >> 4)], Byte.digits[Int(byte & 15)]]
            default: quoted.append(byte)
            }
        }
        quoted.append(Byte.quote)
        return quoted
    }

    // MARK: Bytes

    /// Bytes with a meaning.
    enum Byte {
        static let (blank, tab, lineFeed, `return`, hash) = (UInt8(0x20), UInt8(0x09), UInt8(0x0A), UInt8(0x0D), UInt8(ascii: "#"))
        static let (dash, dot, colon, comma, percent) = (
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "%")
        )
        static let (openBracket, closeBracket, openBrace, closeBrace) = (
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}")
        )
        static let (quote, apostrophe, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"))
        static let (bar, greater, ampersand, asterisk) = (UInt8(ascii: "|"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "*"))
        static let digits = Array("0123456789abcdef".utf8)
    }
}

@_spi(Fuzzing) extension JSONReader {
    /// A YAML text as JSON; `nil` if it isn't read.
    public static func json(ofYAML text: String) -> Data? { try? YAMLParser.json(of: text) }
}
