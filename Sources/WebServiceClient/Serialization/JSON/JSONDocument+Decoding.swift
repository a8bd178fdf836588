import Foundation

extension JSONDocument {
    /// A value of any type, those that Foundation's decoder reads by strategies included.
    func decode<Value: Decodable>(_ type: Value.Type, at place: JSONPlace) throws -> Value {
        if type == String.self { return try unsafeBitCast(string(at: place), to: type) }
        if type == Int.self { return try unsafeBitCast(integer(at: place) as Int, to: type) }
        if type == Double.self { return try unsafeBitCast(double(at: place), to: type) }
        if dialectReads(type) { return try readByDialect(type, at: place) }
        if type == Date.self { return try unsafeBitCast(date(at: place), to: type) }
        if type == Decimal.self { return try unsafeBitCast(decimal(at: place), to: type) }
        if type == URL.self { return try unsafeBitCast(url(at: place), to: type) }
        if type == Data.self { return try unsafeBitCast(data(at: place), to: type) }
        if convertsNames, type is any JSONStringDictionary.Type { return try dictionary(type, at: place) }
        try descend(at: place)
        defer { storage.pointee.nesting &-= 1 }
        if hasManyElements(place) { return try longArray(type, at: place) }
        return try Value(from: JSONValueDecoder(self, place))
    }

    @inline(__always) private func hasManyElements(_ place: JSONPlace) -> Bool {
        word(place.index).kind == .array && word(place.index &+ 1).high >= Self.fewElements
    }

    @inline(never) private func longArray<Value: Decodable>(_ type: Value.Type, at place: JSONPlace) throws -> Value {
        if let array = type as? any JSONLongArray.Type, let value = try array.decode(from: self, at: place) as? Value { return value }
        return try Value(from: JSONValueDecoder(self, place))
    }

    private func dictionary<Value: Decodable>(_ type: Value.Type, at place: JSONPlace) throws -> Value {
        guard let dictionary = type as? any JSONStringDictionary.Type,
            let value = try dictionary.decode(from: self, at: place) as? Value
        else { return try nested(at: place, Value.init) }
        return value
    }

    /// The value that a closure decodes inside of others.
    private func nested<Value>(at place: JSONPlace, _ decode: (JSONValueDecoder) throws -> Value) throws -> Value {
        try descend(at: place)
        defer { storage.pointee.nesting &-= 1 }
        return try decode(JSONValueDecoder(self, place))
    }

    /// Bounds how deep values are decoded inside each other: a type may also decode itself again and again from one place.
    @inline(__always) private func descend(at place: JSONPlace) throws {
        guard storage.pointee.nesting < Self.nestingLimit else { throw tooDeep(at: place) }
        storage.pointee.nesting &+= 1
    }

    /// Optionals and other wrappers may come between the containers of a text.
    private static let nestingLimit = 3 * JSONReader.greatestDepth

    @inline(never) private func tooDeep(at place: JSONPlace) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path(of: place),
                debugDescription: "More than \(Self.nestingLimit) values decode themselves inside each other here."))
    }

    private func date(at place: JSONPlace) throws -> Date {
        switch reader.dateDecodingStrategy {
        case .deferredToDate:
            return try nested(at: place, Date.init)
        case .secondsSince1970:
            return try Date(timeIntervalSince1970: double(at: place))
        case .millisecondsSince1970:
            return try Date(timeIntervalSince1970: double(at: place) / 1000)
        case .iso8601:
            guard let date = try? Date.ISO8601FormatStyle().parse(string(at: place)) else {
                throw corrupted("The text is no date in ISO 8601, as Foundation's strategy reads it.", at: place)
            }
            return date
        #if canImport(Darwin)
        // Elsewhere it is one of the custom ones.
        case .formatted(let formatter):
            guard let date = try formatter.date(from: string(at: place)) else {
                throw corrupted("The text is no date in the formatter's format.", at: place)
            }
            return date
        #endif
        case .custom(let read):
            return try nested(at: place, read)
        @unknown default:
            throw corrupted("The reader doesn't know this strategy for dates.", at: place)
        }
    }

    private func data(at place: JSONPlace) throws -> Data {
        switch reader.dataDecodingStrategy {
        case .deferredToData:
            return try nested(at: place, Data.init)
        case .base64:
            guard let data = try Data(base64Encoded: string(at: place)) else { throw corrupted("The text isn't base64.", at: place) }
            return data
        case .custom(let read):
            return try nested(at: place, read)
        @unknown default:
            throw corrupted("The reader doesn't know this strategy for data.", at: place)
        }
    }

    private func url(at place: JSONPlace) throws -> URL {
        guard let url = try URL(string: string(at: place)) else { throw corrupted("The text is no URL.", at: place) }
        return url
    }

    private func corrupted(_ message: String, at place: JSONPlace) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(of: place), debugDescription: message))
    }
}

/// Dictionaries with `String` keys: those are data and no names of properties, so that no strategy converts them.
protocol JSONStringDictionary {
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> Self
}

extension Dictionary: JSONStringDictionary where Key == String, Value: Decodable {
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> [String: Value] {
        guard document.word(place.index).kind == .object else { throw document.mismatch([String: Any].self, at: place) }
        var result: [String: Value] = [:]
        var index = place.index + JSONWord.objectHead
        while index < document.word(place.index + 1).low {
            let value = try document.decode(Value.self, at: JSONPlace(node: index + 1, container: place.index))
            result.updateValue(value, forKey: document.string(document.word(index)))
            index = document.end(ofValueAt: index + 1)
        }
        return result
    }
}
