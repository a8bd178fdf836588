/// The values of a YAML text that have an anchor (YAML 1.2.2 §6.9.2).
struct YAMLAnchors {
    /// The most bytes that anchors keep and aliases add: aliases of aliases would make a short text large.
    static let sizeLimit = 16 << 20

    /// An anchor whose value is being read.
    struct Open {
        let name: [UInt8]
        let place: Int
        /// The start of the value in the output.
        let start: Int
        let deepestBefore: Int
    }

    /// A value with an anchor.
    struct Value {
        let json: [UInt8]
        /// The number of collections that are nested in it, with itself.
        let height: Int
    }

    /// The values by name; `nil` for an anchor whose value is being read.
    var values: [[UInt8]: Value?] = [:]
    /// The bytes that were kept and added so far.
    var size = 0
    /// The depth of the deepest collection since the innermost anchor.
    var deepest = 0
}

/// The members of a mapping while it is read.
struct YAMLMembers {
    /// The keys that were read.
    var keys: Set<[UInt8]> = []
    /// The number of members that were written.
    var count = 0
    /// The mappings whose members are added, as JSON.
    var merged: [[UInt8]] = []
}

// Anchors, aliases and merge keys.
extension YAMLParser {
    // MARK: Anchors

    /// Reads an anchor, before its value.
    mutating func beginAnchor() throws(YAMLSyntaxError) -> YAMLAnchors.Open {
        let place = position
        let name = try readReferenceName()
        var next = position
        while byte(at: next) == Byte.blank || byte(at: next) == Byte.tab { next += 1 }
        guard byte(at: next) != Byte.ampersand, byte(at: next) != Byte.asterisk else {
            throw error("a value has one anchor, and an alias has none: remove one of them", at: next)
        }
        // An alias in the value isn't an earlier value of the same name.
        anchors.values[name] = .some(nil)
        let open = YAMLAnchors.Open(name: name, place: place, start: output.count, deepestBefore: anchors.deepest)
        anchors.deepest = depth
        return open
    }

    /// Keeps the value that was read since an anchor.
    mutating func endAnchor(_ open: YAMLAnchors.Open) throws(YAMLSyntaxError) {
        try add(output.count - open.start, at: open.place)
        let height = anchors.deepest - depth
        anchors.values[open.name] = YAMLAnchors.Value(json: Array(output[open.start...]), height: height)
        anchors.deepest = max(anchors.deepest, open.deepestBefore)
    }

    /// Reads an alias and writes its value.
    mutating func readAlias() throws(YAMLSyntaxError) {
        let place = position
        let name = try readReferenceName()
        let shown = VisibleText.of(SerializationError.excerpt(String(decoding: name, as: UTF8.self)))
        guard let known = anchors.values[name] else { throw error("no value before has the anchor &\(shown)", at: place) }
        guard let value = known else { throw error("the alias *\(shown) is within the value of its anchor", at: place) }
        try reach(depth + value.height, at: place)
        try add(value.json.count, at: place)
        output += value.json
    }

    private mutating func readReferenceName() throws(YAMLSyntaxError) -> [UInt8] {
        let start = position + 1
        position = start
        while !isSpace(at: position), !isFlowIndicator(byte) { position += 1 }
        guard position > start else { throw error("the anchor or alias has no name", at: start - 1) }
        return Array(bytes[start..<position])
    }

    private mutating func add(_ count: Int, at place: Int) throws(YAMLSyntaxError) {
        anchors.size += count
        guard anchors.size <= YAMLAnchors.sizeLimit else {
            throw error("anchors and aliases add more than \(YAMLAnchors.sizeLimit) bytes: use references of the format", at: place)
        }
    }

    // MARK: Members

    private static let mergeKey = Array("<<".utf8)

    /// Writes a key.
    ///
    /// - Returns: The start of the member in the output.
    mutating func begin(_ key: [UInt8], at place: Int, of members: inout YAMLMembers) throws(YAMLSyntaxError) -> Int {
        guard members.keys.insert(key).inserted else {
            let shown = VisibleText.of(SerializationError.excerpt(String(decoding: key, as: UTF8.self)))
            throw error("the key \"\(shown)\" is there twice", at: place)
        }
        let start = output.count
        if isMerge(key, at: place) { return start }
        if members.count > 0 { output.append(Byte.comma) }
        members.count += 1
        write(text: key)
        output.append(Byte.colon)
        return start
    }

    /// Ends a member, whose value was written. The value of a merge key is kept until the end of the mapping.
    mutating func end(_ key: [UInt8], at place: Int, _ start: Int, of members: inout YAMLMembers) throws(YAMLSyntaxError) {
        guard isMerge(key, at: place) else { return }
        let value = Array(output[start...])
        output.removeSubrange(start...)
        let mappings = value.first == Byte.openBracket ? JSONPieces.elements(of: value).map { Array(value[$0]) } : [value]
        guard mappings.allSatisfy({ $0.first == Byte.openBrace }) else {
            throw error("the value of << isn't a mapping or a list of mappings: quote the key, if it is an own one", at: place)
        }
        members.merged += mappings
    }

    /// A quoted key is the mapping's own.
    private func isMerge(_ key: [UInt8], at place: Int) -> Bool { key == Self.mergeKey && byte(at: place) == key.first }

    /// Ends a mapping: its own members take precedence over those of other mappings, and these in their order.
    mutating func close(_ members: inout YAMLMembers) {
        if !members.merged.isEmpty {
            var names = Set(members.keys.map { Self.quoted($0) })
            for mapping in members.merged {
                for member in JSONPieces.members(of: mapping) where names.insert(Array(mapping[member.name])).inserted {
                    if members.count > 0 { output.append(Byte.comma) }
                    members.count += 1
                    output += mapping[member.name.lowerBound..<member.value.upperBound]
                }
            }
        }
        output.append(Byte.closeBrace)
    }
}

/// Splits the JSON text that the parser wrote, which has no spaces.
private enum JSONPieces {
    static func elements(of list: [UInt8]) -> [Range<Int>] {
        var pieces: [Range<Int>] = []
        var index = 1
        while index < list.count - 1 {
            let end = endOfValue(at: index, in: list)
            pieces.append(index..<end)
            index = end + 1
        }
        return pieces
    }

    static func members(of mapping: [UInt8]) -> [(name: Range<Int>, value: Range<Int>)] {
        var pieces: [(name: Range<Int>, value: Range<Int>)] = []
        var index = 1
        while index < mapping.count - 1 {
            let colon = endOfValue(at: index, in: mapping)
            let end = endOfValue(at: colon + 1, in: mapping)
            pieces.append((index..<colon, (colon + 1)..<end))
            index = end + 1
        }
        return pieces
    }

    /// The index after a value: of the comma, colon or bracket that follows it.
    private static func endOfValue(at start: Int, in text: [UInt8]) -> Int {
        var (index, depth, isText) = (start, 0, false)
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "["), UInt8(ascii: "{"): if !isText { depth += 1 }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if !isText, depth == 0 { return index }
                if !isText { depth -= 1 }
            case UInt8(ascii: ","), UInt8(ascii: ":"): if !isText, depth == 0 { return index }
            default: break
            }
            index += 1
        }
        return text.count
    }
}
