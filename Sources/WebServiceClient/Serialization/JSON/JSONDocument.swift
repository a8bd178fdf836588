import Foundation

/// A JSON text that has been read: a pointer to its memory, which is in use until the call that reads it ends.
struct JSONDocument {
    let storage: UnsafeMutablePointer<JSONStorage>

    @inline(__always) init(_ storage: UnsafeMutablePointer<JSONStorage>) { self.storage = storage }

    /// Reads a whole text in UTF-8, and gives its document to a closure.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with a ``JSONSyntaxError``, and what the closure throws.
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

    /// Reads the text that is in memory.
    func scan() -> JSONFault? {
        var scanner = JSONScanner(storage, depthLimit: reader.boundedDepth)
        return scanner.run()
    }

    /// The bytes of a text that lies in the storage's own memory.
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

    /// The index after a value and all that is in it.
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

    /// The text of a string on the tape.
    @inline(never) func string(_ word: JSONWord) -> String {
        switch word.kind {
        case .ascii: JSONText.string(bytes(word), word.length, isASCII: true)
        case .text: JSONText.string(bytes(word), word.length, isASCII: false)
        case .unescapedName: JSONText.string(name(word), word.length, isASCII: false)
        default: JSONText.string(escaped: bytes(word), word.length)
        }
    }

    /// What a name on the wire is for properties.
    func convertedName(_ name: String, in container: Int) -> String {
        switch reader.keyDecodingStrategy {
        case .useDefaultKeys:
            return name
        case .convertFromSnakeCase:
            if let known = storage.pointee.conversions[name] { return known }
            let result = JSONNameConversion.fromSnakeCase(name)
            // Objects may have any number of names.
            if storage.pointee.conversions.count < 1024 { storage.pointee.conversions[name] = result }
            return result
        case .custom(let convert):
            return convert(path(ofContainerAt: container) + [JSONKey(name)]).stringValue
        @unknown default:
            return name
        }
    }
}
