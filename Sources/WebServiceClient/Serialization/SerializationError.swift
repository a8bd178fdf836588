package import Foundation

/// An error that occurs when converting between a value and a body, if neither the encoder nor the decoder has a specific error.
public struct SerializationError: DescribedError, Sendable {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// The body has another format than expected, such as HTML instead of JSON.
        case format
        /// The payload doesn't have the root named by `decoding(at:)`.
        case root
        /// The charset is unknown, or the bytes aren't valid in it.
        case charset
        /// A text can't be read as the required simple value.
        case value
        /// The type has a structure that the format can't represent.
        case structure
        /// The value can't be written in this format.
        case encoding
        /// A registry of serializers has an invalid entry.
        case registration
    }

    /// The kind of failure.
    public let kind: Kind
    /// A sentence with the problem and the fix.
    public let message: String
    /// The underlying decoding error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = VisibleText.of(message, keepsLineEnds: true)
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}

extension SerializationError {
    /// The beginning of a text on one line, for a message.
    package static func excerpt(_ text: String, upTo limit: Int = 80) -> String {
        let head = text.drop(while: \.isWhitespace).prefix(limit + 1)
        let line = head.prefix(limit).split(whereSeparator: \.isNewline).joined(separator: " ")
        return VisibleText.of(head.count > limit ? line + "…" : line)
    }

    /// The beginning of a body on one line, for a message, with secrets masked; the number of bytes if it isn't text.
    package static func excerpt(_ body: Data, upTo limit: Int = 80) -> String {
        let head = body.prefix(limit * 4)
        guard !head.contains(where: { $0 < 9 }) else { return "\(body.count) bytes that aren't text" }
        let text = SecretMask.beginning(ofBody: body, contentType: nil, upTo: limit * 4, isCut: false).text
        return "“" + excerpt(text, upTo: limit) + "”"
    }
}

extension SerializationError {
    /// The error for a payload without the root that a path names.
    ///
    /// - Parameters:
    ///   - depth: The number of names that were found.
    ///   - found: What the payload has in place of the next name, as the end of a sentence.
    static func missingRoot(_ path: [String], after depth: Int, found: String) -> SerializationError {
        let whole = path.joined(separator: ".")
        let place = depth == 0 ? "at the top of the payload" : "in “\(path.prefix(depth).joined(separator: "."))”"
        return SerializationError(.root, "The payload has no root “\(whole)”: \(place), “\(path[depth])” is missing; \(found).")
    }

    /// The first keys of an object, as text.
    static func list(ofKeys keys: [String]) -> String {
        guard !keys.isEmpty else { return "no keys" }
        let shown = keys.sorted().prefix(10).map { "“\(excerpt($0, upTo: 40))”" }.joined(separator: ", ")
        return (keys.count == 1 ? "the key " : "the keys ") + shown + (keys.count > 10 ? " and \(keys.count - 10) more" : "")
    }
}

/// A value inside a payload, located by wire names and decoded in the same pass over the payload.
///
/// The path can't be in the decoder's `userInfo`, since one decoder serves many calls at once; a task-local value is separate for each
/// call, even without a task.
struct RootedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let path = PayloadPath.current
        var walk = PayloadWalk(path: path, decoder: decoder)
        for component in path.names { try walk.descend(into: component) }
        value = try walk.decoder.singleValueContainer().decode(Value.self)
    }
}

/// The path of a root, and the mapping from wire names to the keys that the decoder's key strategy yields.
struct PayloadPath: Sendable {
    @TaskLocal static var current = PayloadPath(names: [])

    let names: [String]
    var key: @Sendable (_ name: String, _ path: [any CodingKey]) -> String = { name, _ in name }

    /// Runs a decoder on the payload around a root.
    func decode<Value: Decodable>(_ type: Value.Type, with decode: (RootedValue<Value>.Type) throws -> RootedValue<Value>) throws -> Value {
        try Self.$current.withValue(self) {
            do {
                return try decode(RootedValue<Value>.self).value
            } catch DecodingError.dataCorrupted(let context) where context.underlyingError is SerializationError {
                // The property list decoder wraps errors that it doesn't know.
                throw context.underlyingError ?? DecodingError.dataCorrupted(context)
            }
        }
    }
}

/// A coding key with any name.
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
    /// The number of names followed so far.
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
