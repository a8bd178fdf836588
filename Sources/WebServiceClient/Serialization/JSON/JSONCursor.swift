/// A value in a JSON text, for types that read themselves.
///
/// It lives as long as the call to which it is lent: it can't be copied, and so not be kept.
public struct JSONCursor: ~Copyable {
    let document: JSONDocument
    let place: JSONPlace

    @inline(__always) init(_ document: JSONDocument, _ place: JSONPlace) {
        self.document = document
        self.place = place
    }

    /// Whether the value is null.
    public var isNull: Bool { document.isNull(place) }

    /// Where the value is, by names and indices.
    public var codingPath: [any CodingKey] { document.path(of: place) }

    /// A value in another way: a type that is only `Decodable`, by the reader's strategies.
    ///
    /// - Throws: `DecodingError`, or what the type's own coding throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try document.decode(type, at: place)
    }

    // MARK: Members

    /// The value of an object's member.
    ///
    /// - Throws: `DecodingError` when the value isn't an object, has no such member, or that is of another kind.
    @inlinable public func read<Value: JSONReadable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value {
        try Value._member(name, of: self)
    }

    /// The value of an object's member; `nil` when that isn't there or is null.
    ///
    /// - Throws: `DecodingError` when the value isn't an object, or the member is of another kind.
    @inlinable public func readIfPresent<Value: JSONReadable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value? {
        try Value._memberIfPresent(name, of: self)
    }

    /// The value of a member of a type that is only `Decodable`.
    ///
    /// - Throws: `DecodingError`, or what the type's own coding throws.
    public func decode<Value: Decodable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value {
        let member = try member(name)
        return try document.decode(type, at: member.place)
    }

    /// The same; `nil` when the member isn't there or is null.
    public func decodeIfPresent<Value: Decodable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value? {
        let index = try present(name)
        return index < 0 ? nil : try document.decode(type, at: JSONPlace(node: index, container: place.index))
    }

    /// Whether an object has a member, be it null.
    ///
    /// - Throws: `DecodingError` when the value isn't an object.
    public func contains(_ name: StaticString) throws -> Bool { try find(name) != nil }

    /// Goes through the members of an object in their order.
    ///
    /// - Throws: `DecodingError` when the value isn't an object, and what the closure throws.
    public func forEachMember(_ body: (_ name: String, _ value: borrowing JSONCursor) throws -> Void) throws {
        try checkObject()
        var index = place.index + JSONWord.objectHead
        while index < document.word(place.index + 1).low {
            let next = document.end(ofValueAt: index + 1)
            try body(document.string(document.word(index)), JSONCursor(document, JSONPlace(node: index + 1, container: place.index)))
            index = next
        }
    }

    // MARK: Elements

    /// The number of elements of an array, or members of an object; 0 for anything else.
    public var count: Int { document.word(place.index).isContainer ? document.word(place.index + 1).high : 0 }

    /// Goes through the elements of an array.
    ///
    /// - Throws: `DecodingError` when the value isn't an array, and what the closure throws.
    @inlinable public func forEachElement(_ body: (borrowing JSONCursor) throws -> Void) throws {
        var index = try firstElement()
        for number in 0..<count {
            try body(element(at: index, number))
            index = end(ofElementAt: index)
        }
    }

    // MARK: For what is inlined

    @usableFromInline func member(_ name: StaticString) throws -> JSONCursor { try JSONCursor(document, place(ofMember: name)) }

    /// The index of a member's value; -1 when it isn't there or is null.
    @usableFromInline func present(_ name: StaticString) throws -> Int {
        try place(ofPresent: name)?.index ?? -1
    }

    @usableFromInline func member(at index: Int) -> JSONCursor {
        JSONCursor(document, JSONPlace(node: index, container: place.index))
    }

    /// For how many elements an array may take memory at once. That is given back when they have been read.
    @usableFromInline func takeRoom(forElementsOf size: Int) -> Int {
        let room = min(count, document.room(forElementsOf: size))
        document.storage.pointee.reserved &+= room &* size
        return room
    }

    @usableFromInline func giveBackRoom(for number: Int, elementsOf size: Int) {
        document.storage.pointee.reserved &-= number &* size
    }

    @usableFromInline func firstElement() throws -> Int {
        guard document.word(place.index).kind == .array else { throw document.mismatch([Any].self, at: place) }
        return place.index + JSONWord.arrayHead
    }

    @usableFromInline func element(at index: Int, _ number: Int) -> JSONCursor {
        JSONCursor(document, JSONPlace(node: index, container: place.index, number: number))
    }

    @usableFromInline func end(ofElementAt index: Int) -> Int { document.end(ofValueAt: index) }

    // MARK: For what reads a member at once

    @inline(__always) func place(ofMember name: StaticString) throws -> JSONPlace {
        guard let index = try find(name) else { throw missing(name) }
        return JSONPlace(node: index &+ 1, container: place.index)
    }

    /// `nil` when the member isn't there or is null.
    @inline(__always) func place(ofPresent name: StaticString) throws -> JSONPlace? {
        guard let index = try find(name), document.word(index &+ 1).kind != .null else { return nil }
        return JSONPlace(node: index &+ 1, container: place.index)
    }

    @inline(__always) private func find(_ name: StaticString) throws -> Int? {
        try checkObject()
        guard name.hasPointerRepresentation else { return findScalar(name) }
        return document.find(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), inObjectAt: place.index)
    }

    /// A name that is a single scalar, and lies nowhere.
    @inline(never) private func findScalar(_ name: StaticString) -> Int? {
        document.findRaw(name.description, inObjectAt: place.index)
    }

    @inline(__always) private func checkObject() throws {
        guard document.word(place.index).kind == .object else { throw document.mismatch([String: Any].self, at: place) }
    }

    @inline(never) private func missing(_ name: StaticString) -> DecodingError {
        .keyNotFound(
            JSONKey(name.description),
            DecodingError.Context(codingPath: codingPath, debugDescription: "The object has no member “\(name.description)”."))
    }
}
