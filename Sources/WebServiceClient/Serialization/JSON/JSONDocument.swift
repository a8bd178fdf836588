import Foundation

/// A JSON text that has been read, and what its values are decoded with. Decoders and containers hold it, so one that outlives the call in
/// which it was made still reads its own text.
final class JSONDocument {
    // A constant, so that no access is checked for exclusivity.
    let storage: UnsafeMutablePointer<JSONStorage>
    let reader: JSONReader
    /// Where the tape's root lies in the payload, where it was read in pieces.
    let origin: [any CodingKey]
    /// Whether names are converted on their way to properties.
    let convertsNames: Bool
    /// The tables of names of objects that have many, by their indices.
    var tables: [Int: JSONNameTable] = [:]
    /// Conversions of names that have been made.
    private var converted: [String: String] = [:]

    init(_ reader: JSONReader, origin: [any CodingKey] = []) {
        self.reader = reader
        self.origin = origin
        if case .useDefaultKeys = reader.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
        storage = .allocate(capacity: 1)
        storage.initialize(to: JSONStorage(depthLimit: reader.boundedDepth))
    }

    deinit {
        storage.pointee.free()
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// A whole text in UTF-8, read.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with a ``JSONSyntaxError``.
    convenience init(_ text: Data, _ reader: JSONReader) throws {
        self.init(reader)
        let limit = reader.boundedSize
        guard text.count <= limit else {
            throw text.withUnsafeBytes { bytes in
                Self.corrupted(JSONSyntaxError(JSONFault(reason: .size, offset: limit), in: bytes.bindMemory(to: UInt8.self), limit: limit))
            }
        }
        text.withUnsafeBytes { storage.pointee.append($0) }
        var scanner = JSONScanner(storage, depthLimit: reader.boundedDepth)
        if let fault = scanner.run() {
            throw Self.corrupted(JSONSyntaxError(fault, in: self.text, limit: fault.reason == .depth ? reader.boundedDepth : limit))
        }
    }

    /// The bytes of the text; valid as long as the document.
    var text: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: storage.pointee.bytes, count: storage.pointee.count)
    }

    static func corrupted(_ error: JSONSyntaxError, at path: [any CodingKey] = []) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: error.description, underlyingError: error))
    }

    @inline(__always) func word(_ index: Int) -> JSONWord { JSONWord(bits: storage.pointee.tape[index]) }

    /// The index after a value and all that is in it.
    @inline(__always) func end(ofValueAt index: Int) -> Int { JSONWord.end(ofValueAt: index, storage.pointee.tape) }

    /// The text of a string on the tape.
    @inline(__always) func string(_ word: JSONWord) -> String {
        let bytes = UnsafePointer(storage.pointee.bytes) + word.offset
        switch word.kind {
        case .ascii: return JSONText.string(bytes, word.length, isASCII: true)
        case .text: return JSONText.string(bytes, word.length, isASCII: false)
        case .unescapedName: return JSONText.string(storage.pointee.name(word), word.length, isASCII: false)
        default: return JSONText.string(escaped: bytes, word.length)
        }
    }

    /// What a name on the wire is for properties.
    func convertedName(_ name: String, in container: Int) -> String {
        switch reader.keyDecodingStrategy {
        case .useDefaultKeys:
            return name
        case .convertFromSnakeCase:
            if let known = converted[name] { return known }
            let result = JSONNameConversion.fromSnakeCase(name)
            // Dictionaries may have any number of names.
            if converted.count < 1024 { converted[name] = result }
            return result
        case .custom(let convert):
            return convert(path(ofContainerAt: container) + [JSONKey(name)]).stringValue
        @unknown default:
            return name
        }
    }
}
