/// The decoding container of a JSON array.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let document: JSONDocument
    /// The index of the array on the document's tape.
    private let node: Int32
    /// The index of the next element on the tape.
    private var index: Int32
    /// The number of the next element, counted from 0.
    private var number: Int32 = 0
    /// The document's generation when the container was made; the container is invalid after it changes.
    private let generation: UInt32

    init(_ document: JSONDocument, _ node: Int) {
        self.document = document
        self.node = Int32(truncatingIfNeeded: node)
        index = Int32(truncatingIfNeeded: node + JSONWord.arrayHead)
        generation = document.generation
    }

    @inline(__always) private var isCurrent: Bool { generation == document.generation }
    @inline(__always) private var length: Int { document.word(Int(node) &+ 1).high }

    var codingPath: [any CodingKey] { isCurrent ? document.path(ofContainerAt: Int(node)) : [] }
    var count: Int? { isCurrent ? length : nil }
    var currentIndex: Int { Int(number) }
    var isAtEnd: Bool { !isCurrent || Int(number) >= length }

    /// The place of the next element. This doesn't advance, so an element that can't be decoded can be tried again as another type.
    @inline(__always) private func next(_ type: Any.Type) throws -> JSONPlace {
        guard isCurrent else { throw JSONDocument.outlived }
        guard Int(number) < length else { throw atEnd(type) }
        return JSONPlace(node: Int(index), container: Int(node), number: Int(number))
    }

    @inline(__always) private mutating func advance() {
        index = Int32(truncatingIfNeeded: document.end(ofValueAt: Int(index)))
        number &+= 1
    }

    private func atEnd(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: codingPath + [JSONKey(index: Int(number))], debugDescription: "The array has no more than \(number) elements."))
    }

    mutating func decodeNil() throws -> Bool {
        guard try document.isNull(next(Never.self)) else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try document.bool(at: next(type))
        advance()
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try document.string(at: next(type))
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let value = try document.double(at: next(type))
        advance()
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let value = try document.float(at: next(type))
        advance()
        return value
    }

    @inline(__always) private mutating func integer<Value: FixedWidthInteger>() throws -> Value {
        let value: Value = try document.integer(at: next(Value.self))
        advance()
        return value
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try document.decode(type, at: next(type))
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        let container = try document.keyedContainer(at: next(KeyedDecodingContainer<Nested>.self), by: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try document.unkeyedContainer(at: next((any UnkeyedDecodingContainer).self))
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try JSONValueDecoder(document, next((any Decoder).self))
        advance()
        return decoder
    }
}

/// Arrays that are decoded element by element without a container. `Array.init(from:)` needs several look-ups per element and moves all
/// elements whenever the array grows.
protocol JSONLongArray {
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> Self?
}

extension JSONDocument {
    /// The number of elements from which arrays are decoded as ``JSONLongArray``. For shorter ones, the cast to it costs more than it
    /// saves.
    static let fewElements = 16

    /// The number of elements for which memory may be reserved before they are read, since they may turn out to have another type.
    ///
    /// All reservations in progress, including those of enclosing arrays, may have four times the text's bytes, and at least 64 KiB.
    ///
    /// - Parameter size: The stride of an element in bytes.
    func room(forElementsOf size: Int) -> Int {
        let text = storage.pointee.origin + storage.pointee.count
        let bound = text > .max / 4 ? .max : max(1 << 16, 4 * text)
        return max(bound &- storage.pointee.reserved, 0) / max(size, 1)
    }
}

extension Array: JSONLongArray where Element: Decodable {
    /// Returns `nil` if the memory would exceed the limit of `room(forElementsOf:)`.
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> [Element]? {
        let array = try document.array(at: place)
        let count = document.word(array.index + 1).high
        guard count <= document.room(forElementsOf: MemoryLayout<Element>.stride) else { return nil }
        // The product is bounded by the room, so it doesn't overflow.
        let memory = count * MemoryLayout<Element>.stride
        document.storage.pointee.reserved &+= memory
        defer { document.storage.pointee.reserved &-= memory }
        return try [Element](unsafeUninitializedCapacity: count) { elements, done in
            var index = array.index + JSONWord.arrayHead
            for number in 0..<count {
                let element = JSONPlace(node: index, container: array.index, number: number)
                elements.initializeElement(at: number, to: try document.decode(Element.self, at: element))
                done = number + 1
                index = document.end(ofValueAt: index)
            }
        }
    }
}
