import Foundation

/// A value that lies inside a payload, reached by wire names: decoded in the one pass over the payload.
///
/// The path can't travel in the decoder's `userInfo`, since one decoder serves many calls at once; a task-local value is each
/// call's own, also where there is no task.
struct PayloadRoot<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let path = PayloadPath.current
        var walk = PayloadWalk(path: path, decoder: decoder)
        for component in path.names { try walk.descend(into: component) }
        value = try walk.decoder.singleValueContainer().decode(Value.self)
    }
}

/// Where a root lies, and how wire names become the keys that the decoder's key strategy shows.
struct PayloadPath: Sendable {
    @TaskLocal static var current = PayloadPath(names: [])

    let names: [String]
    var key: @Sendable (_ name: String, _ path: [any CodingKey]) -> String = { name, _ in name }

    /// Runs a decoder on the payload around a root.
    func decode<Value: Decodable>(_ type: Value.Type, with decode: (PayloadRoot<Value>.Type) throws -> PayloadRoot<Value>) throws -> Value {
        try Self.$current.withValue(self) {
            do {
                return try decode(PayloadRoot<Value>.self).value
            } catch DecodingError.dataCorrupted(let context) where context.underlyingError is SerializationError {
                // The property list decoder wraps what it doesn't know.
                throw context.underlyingError ?? DecodingError.dataCorrupted(context)
            }
        }
    }
}

/// A key of any name.
struct WireKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private struct PayloadWalk {
    let path: PayloadPath
    var decoder: any Decoder
    /// How many names have been followed.
    private var depth = 0

    init(path: PayloadPath, decoder: any Decoder) {
        self.path = path
        self.decoder = decoder
    }

    mutating func descend(into name: String) throws {
        if let object = try? decoder.container(keyedBy: WireKey.self) {
            let key = WireKey(path.key(name, decoder.codingPath))
            guard object.contains(key) else {
                throw missing("there are \(SerializationError.list(ofKeys: object.allKeys.map(\.stringValue)))")
            }
            decoder = try object.superDecoder(forKey: key)
        } else if var array = try? decoder.unkeyedContainer() {
            guard let index = Int(name) else {
                throw missing("there is an array of \(array.count ?? 0): use an index, such as 0")
            }
            guard index >= 0, index < array.count ?? 0 else {
                throw missing("there is an array of \(array.count ?? 0), counted from 0")
            }
            for _ in 0..<index { _ = try array.superDecoder() }
            decoder = try array.superDecoder()
        } else {
            let isNull = (try? decoder.singleValueContainer().decodeNil()) ?? false
            throw missing("there is \(isNull ? "null" : "a simple value"), neither an object nor an array")
        }
        depth += 1
    }

    private func missing(_ found: String) -> SerializationError {
        .missingRoot(path.names, after: depth, found: found)
    }
}
