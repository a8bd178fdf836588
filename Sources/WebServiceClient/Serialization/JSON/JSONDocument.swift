import Foundation

/// A JSON text that has been read: a pointer to its memory, which is in use until the reading call ends.
struct JSONDocument {
    let storage: UnsafeMutablePointer<JSONStorage>

    @inline(__always) init(_ storage: UnsafeMutablePointer<JSONStorage>) { self.storage = storage }

    /// Reads a whole text in UTF-8 and passes its document to a closure.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with a ``JSONSyntaxError``, and the closure's errors.
    static func withDocument<Value>(_ text: Data, _ reader: JSONReader, _ body: (JSONDocument) throws -> Value) throws -> Value {
        try text.withUnsafeBytes { bytes in
            let document = JSONPool.take(reader)
            defer { JSONPool.giveBack(document) }
            try document.read(bytes)
            return try body(document)
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) throws {
        let limit = reader.boundedSize
        let text = bytes.bindMemory(to: UInt8.self)
        guard text.count <= limit else {
            throw Self.corrupted(JSONSyntaxError(JSONFault(reason: .size, offset: limit), in: text, limit: limit))
        }
        storage.pointee.lend(bytes)
        if let fault = scan() { throw Self.corrupted(JSONSyntaxError(fault, in: text, limit: reader.boundedDepth)) }
    }

    /// Scans the text in memory.
    func scan() -> JSONFault? {
        var scanner = JSONScanner(storage, depthLimit: reader.boundedDepth)
        return scanner.run()
    }

    /// The bytes of a text in the storage's own memory.
    var text: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: storage.pointee.bytes, count: storage.pointee.count)
    }

    var reader: JSONReader { storage.pointee.reader }
    var userInfo: [CodingUserInfoKey: Any] { reader.userInfo }
    @inline(__always) var generation: UInt32 { storage.pointee.generation.current }
    @inline(__always) var convertsNames: Bool { storage.pointee.convertsNames }

    static func corrupted(_ error: JSONSyntaxError, at path: [any CodingKey] = []) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: error.description, underlyingError: error))
    }

    @inline(__always) func word(_ index: Int) -> JSONWord { JSONWord(bits: storage.pointee.tape[index]) }

    /// The index after a value, including its contents.
    @inline(__always) func end(ofValueAt index: Int) -> Int { JSONWord.end(ofValueAt: index, storage.pointee.tape) }

    /// The first byte of a simple value.
    @inline(__always) func bytes(_ word: JSONWord) -> UnsafePointer<UInt8> {
        let origin = storage.pointee.origin
        if word.offset < origin, let lent = storage.pointee.lent { return lent + word.offset }
        return UnsafePointer(storage.pointee.bytes) + (word.offset &- origin)
    }

    /// The first byte of a name.
    @inline(__always) func name(_ word: JSONWord) -> UnsafePointer<UInt8> {
        word.kind == .unescapedName ? UnsafePointer(storage.pointee.names.bytes) + word.offset : bytes(word)
    }

    /// Returns the text of a string on the tape.
    @inline(never) func string(_ word: JSONWord) -> String {
        switch word.kind {
        case .ascii: JSONStrings.string(bytes(word), word.length, isASCII: true)
        case .text: JSONStrings.string(bytes(word), word.length, isASCII: false)
        case .unescapedName: JSONStrings.string(name(word), word.length, isASCII: false)
        default: JSONStrings.string(escaped: bytes(word), word.length)
        }
    }

    /// Converts a name on the wire to a property name.
    func convertedName(_ name: String, in container: Int) -> String {
        switch reader.keyDecodingStrategy {
        case .useDefaultKeys:
            return name
        case .convertFromSnakeCase:
            if let known = storage.pointee.conversions[name] { return known }
            let result = JSONNameConversion.fromSnakeCase(name)
            // Bounded, since an object may have any number of names.
            if storage.pointee.conversions.count < 1024 { storage.pointee.conversions[name] = result }
            return result
        case .custom(let convert):
            return convert(path(ofContainerAt: container) + [JSONKey(name)]).stringValue
        @unknown default:
            return name
        }
    }
}

extension JSONDocument {
    /// Returns the place to which a path of raw names and indices leads.
    ///
    /// - Throws: ``SerializationError`` with the part of the path that was found, and what exists instead of the rest.
    func place(at path: [String]) throws -> JSONPlace {
        var place = JSONPlace.root
        for (depth, name) in path.enumerated() {
            guard let next = try child(name, of: place.index, path, depth) else {
                throw Self.missing(path, depth, found: "there are \(SerializationError.list(ofKeys: rawNames(ofObjectAt: place.index)))")
            }
            place = next
        }
        return place
    }

    private func child(_ name: String, of node: Int, _ path: [String], _ depth: Int) throws -> JSONPlace? {
        switch word(node).kind {
        case .object:
            return findRaw(name, inObjectAt: node).map { JSONPlace(node: $0 + 1, container: node) }
        case .array:
            let count = word(node + 1).high
            guard let index = Int(name) else {
                throw Self.missing(path, depth, found: "there is an array of \(count): use an index, such as 0")
            }
            guard index >= 0, index < count else { throw Self.missing(path, depth, found: "there is an array of \(count), counted from 0") }
            var element = node + JSONWord.arrayHead
            for _ in 0..<index { element = end(ofValueAt: element) }
            return JSONPlace(node: element, container: node, number: index)
        case let kind:
            let found = kind == .null ? "null" : "a simple value"
            throw Self.missing(path, depth, found: "there is \(found), neither an object nor an array")
        }
    }

    private static func missing(_ path: [String], _ depth: Int, found: String) -> SerializationError {
        .missingRoot(path, after: depth, found: found)
    }
}

// Coding paths are created on demand, mostly for errors; the tape links each container to its parent.
extension JSONDocument {
    func path(of place: JSONPlace) -> [any CodingKey] {
        guard place.container >= 0 else { return storage.pointee.rootPath }
        return path(ofContainerAt: place.parent) + [key(ofNode: place.index, number: Int(place.number), in: place.parent)]
    }

    /// The place of a container.
    func place(ofContainerAt node: Int) -> JSONPlace {
        let up = word(node + 2)
        return JSONPlace(node: node, container: up.high, number: up.low)
    }

    func path(ofContainerAt container: Int) -> [any CodingKey] {
        var steps: [(node: Int, number: Int, parent: Int)] = []
        var node = container
        while node >= 0 {
            let up = word(node + 2)
            guard up.high >= 0 else { break }
            steps.append((node, up.low, up.high))
            node = up.high
        }
        var path = storage.pointee.rootPath
        for step in steps.reversed() {
            let name = rawKey(ofNode: step.node, number: step.number, in: step.parent)
            path.append(convertsNames && name.intValue == nil ? converted(name, under: path) : name)
        }
        return path
    }

    private func key(ofNode node: Int, number: Int, in container: Int) -> JSONKey {
        let key = rawKey(ofNode: node, number: number, in: container)
        return convertsNames && key.intValue == nil ? JSONKey(convertedName(key.stringValue, in: container)) : key
    }

    private func rawKey(ofNode node: Int, number: Int, in container: Int) -> JSONKey {
        guard word(container).kind == .array else { return JSONKey(string(word(node - 1))) }
        return JSONKey(index: number + (container == 0 ? storage.pointee.firstIndex : 0))
    }

    private func converted(_ key: JSONKey, under path: [any CodingKey]) -> JSONKey {
        if case .custom(let convert) = reader.keyDecodingStrategy { return JSONKey(convert(path + [key]).stringValue) }
        return JSONKey(convertedName(key.stringValue, in: 0))
    }
}

// The calls to a dialect. Without one, a text skips them by checking a Boolean.
extension JSONDocument {
    @inline(__always) var hasDialect: Bool { storage.pointee.hasDialect }

    /// Whether the dialect reads values of a type.
    @inline(__always) func dialectReads(_ type: any Any.Type) -> Bool {
        guard hasDialect else { return false }
        let id = ObjectIdentifier(type)
        for known in storage.pointee.dialectTypes where known.type == id { return known.isRead }
        return askDialect(type)
    }

    @inline(never) private func askDialect(_ type: any Any.Type) -> Bool {
        let isRead = reader.dialect?.reads(type) ?? false
        // Bounded, since a type may contain any number of others.
        if storage.pointee.dialectTypes.count < 32 { storage.pointee.dialectTypes.append((ObjectIdentifier(type), isRead)) }
        return isRead
    }

    /// Decodes a value of a type that the dialect reads.
    @inline(never) func readByDialect<Value: Decodable>(_ type: Value.Type, at place: JSONPlace) throws -> Value {
        guard let dialect = reader.dialect else { throw mismatch(type, at: place) }
        return try dialect.read(type, from: JSONNode(self, place))
    }

    /// A text in which the dialect may find a number.
    private func dialectText(_ type: any Any.Type, at place: JSONPlace) throws -> (dialect: any JSONDialect, text: String) {
        let word = word(place.index)
        guard let dialect = reader.dialect, word.kind == .ascii || word.kind == .text || word.kind == .escaped else {
            throw mismatch(type, at: place)
        }
        return (dialect, string(word))
    }

    @inline(never) func dialectInteger<Value: FixedWidthInteger>(at place: JSONPlace) throws -> Value {
        let (dialect, text) = try dialectText(Value.self, at: place)
        guard let value = dialect.integer(of: text, as: Value.self) else { throw noNumber(text, Value.self, at: place) }
        return value
    }

    @inline(never) func dialectFloating<Value: BinaryFloatingPoint & LosslessStringConvertible>(at place: JSONPlace) throws -> Value {
        let (dialect, text) = try dialectText(Value.self, at: place)
        guard let value = dialect.floating(of: text, as: Value.self) else { throw noNumber(text, Value.self, at: place) }
        return value
    }

    private func noNumber(_ text: String, _ type: any Any.Type, at place: JSONPlace) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path(of: place),
                debugDescription: "“\(SerializationError.excerpt(text, upTo: 50))” isn't a number that \(type) can hold."))
    }

    /// Whether a value represents a missing member.
    @inline(__always) func isAbsence(_ place: JSONPlace) -> Bool {
        guard hasDialect, word(place.index).kind == .object else { return false }
        return reader.dialect?.isAbsence(JSONNode(self, place)) ?? false
    }
}
