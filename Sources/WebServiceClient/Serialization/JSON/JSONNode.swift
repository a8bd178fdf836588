package import Foundation

/// A value in a text, with what stands around it: what a ``JSONDialect`` sees.
///
/// It is good within the call that it was given to, as decoders are.
package struct JSONNode {
    /// A value that isn't a container, or which container it is.
    package enum Content {
        case null
        case boolean(Bool)
        /// A number by its digits, and whether it has neither fraction nor exponent.
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

    /// The value that a decoder of the reader's stands at, unless its call has ended.
    package init?(_ decoder: any Decoder) {
        guard let decoder = decoder as? JSONValueDecoder, let node = decoder.node else { return nil }
        self = node
    }

    /// What the text is read with.
    package var dialect: (any JSONDialect)? { document.reader.dialect }

    package var content: Content {
        let word = document.word(place.index)
        switch word.kind {
        case .null: return .null
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .integer, .number:
            return .number(JSONText.string(document.bytes(word), word.length, isASCII: true), isWhole: word.kind == .integer)
        case .array: return .array
        case .object: return .object
        case .ascii, .text, .escaped, .unescapedName: return .string(document.string(word))
        }
    }

    package var isArray: Bool { document.word(place.index).kind == .array }
    package var isObject: Bool { document.word(place.index).kind == .object }
    package var isNull: Bool { document.isNull(place) }

    /// A number with all of its digits; `nil` for what is none, and where a `Decimal` can't hold them.
    package var decimal: Decimal? {
        let word = document.word(place.index)
        guard word.kind == .integer || word.kind == .number else { return nil }
        return JSONNumber.decimal(document.bytes(word), word.length)
    }

    /// The array or the object that the value is in; `nil` for the root.
    package var container: JSONNode? {
        place.parent < 0 ? nil : JSONNode(document, document.place(ofContainerAt: place.parent))
    }

    /// The number of elements or members; 0 for what is no container.
    package var count: Int { document.word(place.index).isContainer ? document.word(place.index + 1).high : 0 }

    /// A decoder of the value, which knows where it is.
    package var decoder: any Decoder { JSONValueDecoder(document, place) }

    /// A value by the reader's rules.
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

    /// The value of an object's member.
    package func member(_ name: String) -> JSONNode? {
        guard isObject, let index = document.findRaw(name, inObjectAt: place.index) else { return nil }
        return JSONNode(document, JSONPlace(node: index + 1, container: place.index))
    }

    /// The name of the member that the value is of an object; `nil` for an element of an array and for the root.
    package var name: String? {
        guard place.parent >= 0, document.word(place.parent).kind == .object else { return nil }
        return document.string(document.word(place.index - 1))
    }

    /// The members of the object around the value whose names are its own name and a suffix that begins with some byte, of ASCII.
    ///
    /// - Parameter suffixes: the ones that matter. In an object of many members only these are found, each by itself: to look through all
    ///   members for each value would take a time that grows with the square of their number.
    package func neighbours(behind mark: UInt8, suffixes: [String]) -> [(name: String, value: JSONNode)] {
        guard place.parent >= 0, document.word(place.parent).kind == .object else { return [] }
        if document.word(place.parent + 1).high > JSONDocument.manyMembers { return neighbours(suffixes) }
        let own = document.word(place.index - 1)
        let bytes = document.name(own)
        let end = document.word(place.parent + 1).low
        var found: [(name: String, value: JSONNode)] = []
        var index = place.parent + JSONWord.objectHead
        while index < end {
            let word = document.word(index)
            if word.length > own.length, document.name(word)[own.length] == mark,
                JSONBytes.areEqual(document.name(word), bytes, own.length)
            {
                found.append((document.string(word), JSONNode(document, JSONPlace(node: index + 1, container: place.parent))))
            }
            index = document.end(ofValueAt: index + 1)
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

/// What a format that is written in JSON makes of values otherwise than JSON's readers do: OData's numbers as texts, for one.
///
/// It is asked about what the reader can't read by itself, and about the types that it names; everything else costs nothing more.
package protocol JSONDialect: Sendable {
    /// Whether values of a type are read by the dialect. It is asked once for each type and text.
    func reads(_ type: any Any.Type) -> Bool
    /// A value of such a type.
    func read<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value
    /// A number of a text; `nil` where it is none.
    func integer<Value: FixedWidthInteger>(of text: String, as type: Value.Type) -> Value?
    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(of text: String, as type: Value.Type) -> Value?
    /// Whether an object stands in a member's place for one that isn't there.
    func isAbsence(_ object: JSONNode) -> Bool
    /// Looks at an object before its members are decoded.
    func check(object: JSONNode) throws
    /// The array that is meant by a value; `nil` where it means none.
    func array(in node: JSONNode) throws -> JSONNode?
    /// A decoder of an object's member, which may not be there, with what stands beside it.
    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder
}
