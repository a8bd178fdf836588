package import Foundation

/// A value of a JSON text with access to its container and its neighbours, for a ``JSONDialect`` and for modules that build other trees.
///
/// The neighbours of a member are the members whose names are its name, a mark and a suffix, such as `price@odata.type`.
///
/// Like a decoder, it is valid only within the call that receives it.
package struct JSONNode {
    /// A value that isn't a container, or the kind of container.
    package enum Content {
        case null
        case boolean(Bool)
        /// A number's digits, and whether it has neither fraction nor exponent.
        case number(String, isWhole: Bool)
        case string(String)
        case array, object
    }

    let document: JSONDocument
    let place: JSONPlace

    init(_ document: JSONDocument, _ place: JSONPlace) {
        self.document = document
        self.place = place
    }

    /// Creates the node of the value that a decoder of this reader reads; `nil` for other decoders, and if the decoder's call has ended.
    package init?(_ decoder: any Decoder) {
        guard let decoder = decoder as? JSONValueDecoder, let node = decoder.node else { return nil }
        self = node
    }

    /// The dialect of the text's reader.
    package var dialect: (any JSONDialect)? { document.reader.dialect }

    package var content: Content {
        let word = document.word(place.index)
        switch word.kind {
        case .null: return .null
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .integer, .number:
            return .number(JSONStrings.string(document.bytes(word), word.length, isASCII: true), isWhole: word.kind == .integer)
        case .array: return .array
        case .object: return .object
        case .ascii, .text, .escaped, .unescapedName: return .string(document.string(word))
        }
    }

    package var isArray: Bool { document.word(place.index).kind == .array }
    package var isObject: Bool { document.word(place.index).kind == .object }
    package var isNull: Bool { document.isNull(place) }

    /// The number, if it is written without fraction and exponent and an `Int64` can represent it. Minus zero has no such representation.
    package var integer: Int64? {
        let word = document.word(place.index)
        guard word.kind == .integer else { return nil }
        let bytes = document.bytes(word)
        if bytes.pointee == UInt8(ascii: "-"), word.length == 2, bytes[1] == UInt8(ascii: "0") { return nil }
        return JSONNumber.integer(bytes, word.length)
    }

    /// The number of bytes before the value in the text or, if the text is read in pieces, in the piece in memory. For a string, the value
    /// begins after its quotation mark.
    package var offset: Int { document.word(place.index).offset }

    /// A copy of the text of an array or an object; `nil` for other values, and for values of a text that isn't read in pieces.
    package var containerText: Data? {
        let word = document.word(place.index)
        let begin = word.offset - document.storage.pointee.origin
        guard word.isContainer, begin >= 0, begin < document.text.count else { return nil }
        let rest = UnsafeBufferPointer(rebasing: document.text[begin...])
        var end = JSONValueEnd()
        return end.feed(rest).map { Data(rest[..<$0]) }
    }

    /// The exact number; `nil` if the value isn't a number or a `Decimal` can't represent it.
    package var decimal: Decimal? {
        let word = document.word(place.index)
        guard word.kind == .integer || word.kind == .number else { return nil }
        return JSONNumber.decimal(document.bytes(word), word.length)
    }

    /// The array or object that contains the value; `nil` for the root.
    package var container: JSONNode? {
        place.parent < 0 ? nil : JSONNode(document, document.place(ofContainerAt: place.parent))
    }

    /// The number of elements or members; 0 if the value isn't a container.
    package var count: Int { document.word(place.index).isContainer ? document.word(place.index + 1).high : 0 }

    /// A decoder of the value, which knows its coding path.
    package var decoder: any Decoder { JSONValueDecoder(document, place) }

    /// Decodes the value by the reader's rules.
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try document.decode(type, at: place) }

    package func forEachElement(_ body: (JSONNode) throws -> Void) rethrows {
        guard isArray else { return }
        var index = place.index + JSONWord.arrayHead
        for number in 0..<count {
            try body(JSONNode(document, JSONPlace(node: index, container: place.index, number: number)))
            index = document.end(ofValueAt: index)
        }
    }

    package func forEachMember(_ body: (_ name: String, _ value: JSONNode) throws -> Void) rethrows {
        guard isObject else { return }
        let end = document.word(place.index + 1).low
        var index = place.index + JSONWord.objectHead
        while index < end {
            try body(document.string(document.word(index)), JSONNode(document, JSONPlace(node: index + 1, container: place.index)))
            index = document.end(ofValueAt: index + 1)
        }
    }

    package func forEachValue(_ body: (JSONNode) throws -> Void) rethrows {
        guard isObject else { return }
        let end = document.word(place.index + 1).low
        var index = place.index + JSONWord.objectHead
        while index < end {
            try body(JSONNode(document, JSONPlace(node: index + 1, container: place.index)))
            index = document.end(ofValueAt: index + 1)
        }
    }

    /// The names of an object's members, in order.
    package var names: [String] { isObject ? document.rawNames(ofObjectAt: place.index) : [] }

    /// A hash of the names in order: equal for equal lists of names, and rarely for others.
    package var markOfNames: UInt64 {
        guard isObject else { return 0 }
        let end = document.word(place.index + 1).low
        var index = place.index + JSONWord.objectHead
        var mark: UInt64 = 0
        while index < end {
            let word = document.word(index)
            let bytes = document.name(word)
            // The first and the last bytes and the length distinguish most names. Names are padded, so eight bytes can be read.
            var ends = JSONBytes.load8(bytes)
            if word.length < 8 {
                ends &= ~(~0 &<< UInt64(truncatingIfNeeded: 8 &* word.length))
            } else {
                ends = ends &* 31 &+ JSONBytes.load8(bytes + (word.length &- 8))
            }
            mark = (mark ^ ends ^ UInt64(truncatingIfNeeded: word.length)) &* 0x9E37_79B9_7F4A_7C15
            mark ^= mark &>> 32
            index = document.end(ofValueAt: index + 1)
        }
        return mark
    }

    /// Returns whether an object's members have these names in this order, byte for byte.
    package func hasNames(_ names: [String]) -> Bool {
        guard isObject, count == names.count else { return false }
        var index = place.index + JSONWord.objectHead
        for name in names {
            let word = document.word(index)
            guard word.length == name.utf8.count else { return false }
            let bytes = document.name(word)
            let isSame = name.utf8.withContiguousStorageIfAvailable { text in
                text.baseAddress.map { JSONBytes.areEqual(bytes, exactly: $0, text.count) } ?? true
            }
            guard isSame ?? false else { return false }
            index = document.end(ofValueAt: index + 1)
        }
        return true
    }

    /// Returns the value of an object's member.
    package func member(_ name: String) -> JSONNode? {
        guard isObject, let index = document.findRaw(name, inObjectAt: place.index) else { return nil }
        return JSONNode(document, JSONPlace(node: index + 1, container: place.index))
    }

    /// Returns an object's member, if it exists, and its neighbours.
    package func members(_ name: String, neighboursBehind mark: UInt8) -> [(name: String, value: JSONNode)] {
        guard isObject else { return [] }
        var found: [(name: String, value: JSONNode)] = []
        func add(_ index: Int) {
            found.append((document.string(document.word(index)), JSONNode(document, JSONPlace(node: index + 1, container: place.index))))
        }
        if let own = document.findRaw(name, inObjectAt: place.index) { add(own) }
        var name = name
        name.withUTF8 { document.forEachNeighbour(of: $0, behind: mark, inObjectAt: place.index, add) }
        return found
    }

    /// The name of the value's member in its object; `nil` for an element of an array and for the root.
    package var name: String? {
        guard place.parent >= 0, document.word(place.parent).kind == .object else { return nil }
        return document.string(document.word(place.index - 1))
    }

    /// Returns the neighbours of the value's member.
    ///
    /// - Parameters:
    ///   - mark: The ASCII byte after the member's name in the names of its neighbours.
    ///   - suffixes: The relevant suffixes, each beginning with the mark. In an object with many members only these are looked up, one by
    ///     one, since scanning all members for each value would take quadratic time. In other objects all neighbours are returned.
    package func neighbours(behind mark: UInt8, suffixes: [String]) -> [(name: String, value: JSONNode)] {
        guard place.parent >= 0, document.word(place.parent).kind == .object else { return [] }
        if document.word(place.parent + 1).high > JSONDocument.manyMembers { return neighbours(suffixes) }
        let own = document.word(place.index - 1)
        var found: [(name: String, value: JSONNode)] = []
        let name = UnsafeBufferPointer(start: document.name(own), count: own.length)
        document.forEachNeighbour(of: name, behind: mark, inObjectAt: place.parent) { index in
            found.append(
                (document.string(document.word(index)), JSONNode(document, JSONPlace(node: index + 1, container: place.parent))))
        }
        return found
    }

    private func neighbours(_ suffixes: [String]) -> [(name: String, value: JSONNode)] {
        let own = document.word(place.index - 1)
        var name = Array(UnsafeBufferPointer(start: document.name(own), count: own.length))
        return suffixes.compactMap { suffix in
            name.removeSubrange(own.length...)
            name.append(contentsOf: suffix.utf8)
            guard let index = name.withUnsafeBufferPointer({ document.findExactly($0, inObjectAt: place.parent) }) else { return nil }
            return (document.string(document.word(index)), JSONNode(document, JSONPlace(node: index + 1, container: place.parent)))
        }
    }
}

/// The differences between a format based on JSON and plain JSON, such as OData's numbers as texts.
///
/// The reader consults it for values that it can't read itself, and for the types that the dialect reads; other values have no overhead.
package protocol JSONDialect: Sendable {
    /// Returns whether the dialect reads values of a type. It is called once per type and text.
    func reads(_ type: any Any.Type) -> Bool
    /// Reads a value of such a type.
    func read<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value
    /// Returns the number that a text represents; `nil` if it isn't a number.
    func integer<Value: FixedWidthInteger>(of text: String, as type: Value.Type) -> Value?
    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(of text: String, as type: Value.Type) -> Value?
    /// Returns whether an object represents a missing member.
    func isAbsence(_ object: JSONNode) -> Bool
    /// Checks an object before its members are decoded by a type of keys.
    func check(object: JSONNode, by keys: any CodingKey.Type) throws
    /// Returns the array that a value represents; `nil` if it represents none.
    func array(in node: JSONNode) throws -> JSONNode?
    /// The byte after a member's name in the names of its neighbours, such as `@` in `price@odata.type`.
    var neighbourMark: UInt8 { get }
    /// Returns a decoder of an object's member, which may be missing, with its neighbours.
    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder
}

/// Tells whether an object has a member or neighbours of it, when it is decoded for the member's key: ``none`` if it has neither.
///
///     if case .none? = try? container.decode(JSONNeighbours.self, forKey: key) { … }
///
/// A type whose members are mostly missing can thus skip the search for each one. Only a reader with a dialect determines this; other
/// decoders return ``some`` or throw.
package enum JSONNeighbours: Decodable {
    case none, some

    package init(from decoder: any Decoder) { self = .some }
}
