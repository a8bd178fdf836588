/// A value in a JSON text, for types that read themselves.
///
/// It is valid only during the call that receives it, so it isn't copyable.
public struct JSONCursor: ~Copyable {
    let document: JSONDocument
    let place: JSONPlace

    @inline(__always) init(_ document: JSONDocument, _ place: JSONPlace) {
        self.document = document
        self.place = place
    }

    /// Whether the value is null.
    public var isNull: Bool { document.isNull(place) }

    /// The place of the value, as names and indices.
    public var codingPath: [any CodingKey] { document.path(of: place) }

    /// Decodes the value as a type that is only `Decodable`, by the reader's strategies.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own coding.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try document.decode(type, at: place)
    }

    // MARK: Members

    /// Reads the value of an object's member.
    ///
    /// - Throws: `DecodingError` if the value isn't an object, has no such member, or the member has another type.
    @inlinable public func read<Value: JSONReadable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value {
        try Value._member(name, of: self)
    }

    /// Reads the value of an object's member; `nil` if the member is missing or null.
    ///
    /// - Throws: `DecodingError` if the value isn't an object, or the member has another type.
    @inlinable public func readIfPresent<Value: JSONReadable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value? {
        try Value._memberIfPresent(name, of: self)
    }

    /// Decodes the value of a member as a type that is only `Decodable`.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own coding.
    public func decode<Value: Decodable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value {
        let member = try member(name)
        return try document.decode(type, at: member.place)
    }

    /// Decodes the value of a member as a type that is only `Decodable`; `nil` if the member is missing or null.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own coding.
    public func decodeIfPresent<Value: Decodable>(_ name: StaticString, as type: Value.Type = Value.self) throws -> Value? {
        let index = try present(name)
        return index < 0 ? nil : try document.decode(type, at: JSONPlace(node: index, container: place.index))
    }

    /// Returns whether the object has a member, including a null one.
    ///
    /// - Throws: `DecodingError` if the value isn't an object.
    public func contains(_ name: StaticString) throws -> Bool { try find(name) != nil }

    /// Calls a closure with each member of an object, in order.
    ///
    /// - Throws: `DecodingError` if the value isn't an object, and the closure's errors.
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

    /// The number of elements of an array, or members of an object; 0 for any other value.
    public var count: Int { document.word(place.index).isContainer ? document.word(place.index + 1).high : 0 }

    /// Calls a closure with each element of an array.
    ///
    /// - Throws: `DecodingError` if the value isn't an array, and the closure's errors.
    @inlinable public func forEachElement(_ body: (borrowing JSONCursor) throws -> Void) throws {
        var index = try firstElement()
        for number in 0..<count {
            try body(element(at: index, number))
            index = end(ofElementAt: index)
        }
    }

    // MARK: Support for inlinable functions

    @usableFromInline func member(_ name: StaticString) throws -> JSONCursor { try JSONCursor(document, place(ofMember: name)) }

    /// Returns the index of a member's value; -1 if the member is missing or null.
    @usableFromInline func present(_ name: StaticString) throws -> Int {
        try place(ofPresent: name)?.index ?? -1
    }

    @usableFromInline func member(at index: Int) -> JSONCursor {
        JSONCursor(document, JSONPlace(node: index, container: place.index))
    }

    /// Reserves memory for an array's elements and returns their number. The reservation ends when they have been read.
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

    // MARK: Support for reading a member in one call

    @inline(__always) func place(ofMember name: StaticString) throws -> JSONPlace {
        guard let index = try find(name) else { throw missing(name) }
        return JSONPlace(node: index &+ 1, container: place.index)
    }

    /// Returns `nil` if the member is missing or null.
    @inline(__always) func place(ofPresent name: StaticString) throws -> JSONPlace? {
        guard let index = try find(name), document.word(index &+ 1).kind != .null else { return nil }
        return JSONPlace(node: index &+ 1, container: place.index)
    }

    @inline(__always) private func find(_ name: StaticString) throws -> Int? {
        try checkObject()
        guard name.hasPointerRepresentation else { return findScalar(name) }
        return document.find(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), inObjectAt: place.index)
    }

    /// Finds a name that is a single scalar and has no memory address.
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
