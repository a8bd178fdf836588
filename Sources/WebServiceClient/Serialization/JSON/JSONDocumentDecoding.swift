import Foundation

extension JSONDocument {
    /// Decodes a value of any type, including those that Foundation's decoder reads by strategies.
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

    /// Decodes a nested value with a closure.
    private func nested<Value>(at place: JSONPlace, _ decode: (JSONValueDecoder) throws -> Value) throws -> Value {
        try descend(at: place)
        defer { storage.pointee.nesting &-= 1 }
        return try decode(JSONValueDecoder(self, place))
    }

    /// Limits the nesting of decoded values: a type may also decode itself repeatedly from one place.
    @inline(__always) private func descend(at place: JSONPlace) throws {
        guard storage.pointee.nesting < Self.nestingLimit else { throw tooDeep(at: place) }
        storage.pointee.nesting &+= 1
    }

    /// Three times the depth of a text, since optionals and other wrappers may come between its containers.
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
                throw corrupted("The text isn't a date in ISO 8601, as Foundation's strategy reads it.", at: place)
            }
            return date
        #if canImport(Darwin)
        // On other platforms this is one of the custom strategies.
        case .formatted(let formatter):
            guard let date = try formatter.date(from: string(at: place)) else {
                throw corrupted("The text isn't a date in the formatter's format.", at: place)
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
        guard let url = try URL(string: string(at: place)) else { throw corrupted("The text isn't a URL.", at: place) }
        return url
    }

    private func corrupted(_ message: String, at place: JSONPlace) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(of: place), debugDescription: message))
    }
}

/// Dictionaries with `String` keys. Their keys are data, not property names, so key strategies don't convert them.
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

// The simple values of a document.
extension JSONDocument {
    @inline(__always) func isNull(_ place: JSONPlace) -> Bool { word(place.index).kind == .null }

    @inline(__always) func bool(at place: JSONPlace) throws -> Bool {
        switch word(place.index).kind {
        case .true: return true
        case .false: return false
        default: throw mismatch(Bool.self, at: place)
        }
    }

    @inline(__always) func string(at place: JSONPlace) throws -> String {
        let word = word(place.index)
        switch word.kind {
        case .ascii: return JSONStrings.string(bytes(word), word.length, isASCII: true)
        case .text, .escaped: return string(word)
        default: throw mismatch(String.self, at: place)
        }
    }

    @inline(__always) func integer<Value: FixedWidthInteger>(at place: JSONPlace) throws -> Value {
        let word = word(place.index)
        let bytes = self.bytes(word)
        switch word.kind {
        case .integer:
            if let value: Value = JSONNumber.integer(bytes, word.length) { return value }
        case .number:
            if let value: Value = JSONNumber.integer(ofDecimal: bytes, word.length) { return value }
        default:
            return try dialectInteger(at: place)
        }
        throw unrepresentable(Value.self, at: place)
    }

    @inline(__always) func double(at place: JSONPlace) throws -> Double {
        let word = word(place.index)
        switch word.kind {
        case .integer, .number:
            if let value = JSONNumber.double(bytes(word), word.length) { return value }
            throw unrepresentable(Double.self, at: place)
        default:
            return try nonConforming(at: place)
        }
    }

    @inline(__always) func float(at place: JSONPlace) throws -> Float {
        let word = word(place.index)
        switch word.kind {
        case .integer, .number:
            if let value = JSONNumber.float(bytes(word), word.length) { return value }
            throw unrepresentable(Float.self, at: place)
        default:
            return try nonConforming(at: place)
        }
    }

    /// An infinity or NaN, written as a text.
    private func nonConforming<Value: BinaryFloatingPoint & LosslessStringConvertible>(at place: JSONPlace) throws -> Value {
        if hasDialect { return try dialectFloating(at: place) }
        let word = word(place.index)
        guard word.kind == .ascii || word.kind == .text || word.kind == .escaped,
            case .convertFromString(let positive, let negative, let nan) = reader.nonConformingFloatDecodingStrategy
        else { throw mismatch(Value.self, at: place) }
        switch string(word) {
        case positive: return .infinity
        case negative: return -.infinity
        case nan: return .nan
        default: throw mismatch(Value.self, at: place)
        }
    }

    func decimal(at place: JSONPlace) throws -> Decimal {
        let word = word(place.index)
        guard word.kind == .integer || word.kind == .number else { throw mismatch(Decimal.self, at: place) }
        guard let value = JSONNumber.decimal(bytes(word), word.length) else {
            throw unrepresentable(Decimal.self, at: place)
        }
        return value
    }

    // MARK: Errors

    /// The error for a value of the wrong type; for null, that the value is missing.
    @inline(never) func mismatch(_ type: Any.Type, at place: JSONPlace) -> DecodingError {
        let kind = word(place.index).kind
        let path = path(of: place)
        let needed = Self.name(of: type)
        guard kind != .null else {
            return .valueNotFound(
                type, DecodingError.Context(codingPath: path, debugDescription: "\(needed) is needed, and null was found."))
        }
        return .typeMismatch(
            type, DecodingError.Context(codingPath: path, debugDescription: "\(needed) is needed, and \(kind.name) was found."))
    }

    private static func name(of type: Any.Type) -> String {
        if type == [String: Any].self { return "An object" }
        return type == [Any].self ? "An array" : "\(type)"
    }

    /// The error for a number that the type can't represent.
    @inline(never) private func unrepresentable(_ type: Any.Type, at place: JSONPlace) -> DecodingError {
        let word = word(place.index)
        let number = JSONStrings.string(bytes(word), min(word.length, 200), isASCII: true)
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path(of: place),
                debugDescription: "\(type) can't hold the number \(SerializationError.excerpt(number, upTo: 50))."))
    }
}

extension JSONDocument {
    /// Returns the index of a member's name in an object.
    ///
    /// The search begins after the last member found, since types mostly read members in order.
    @inline(__always) func find(_ name: String, inObjectAt node: Int) -> Int? {
        if convertsNames { return convertedNames(ofObjectAt: node).find(name) }
        return findRaw(name, inObjectAt: node)
    }

    /// Returns the index of a member by its raw name.
    @inline(__always) func findRaw(_ name: String, inObjectAt node: Int) -> Int? {
        // Native Swift strings are contiguous; others are copied.
        if let index = name.utf8.withContiguousStorageIfAvailable({ find($0, inObjectAt: node) ?? -1 }) { return index < 0 ? nil : index }
        return Array(name.utf8).withUnsafeBufferPointer { find($0, inObjectAt: node) }
    }

    /// The names of an object as coding keys see them, without duplicates.
    func names(ofObjectAt node: Int) -> [String] {
        convertsNames ? convertedNames(ofObjectAt: node).unique : rawNames(ofObjectAt: node)
    }

    /// The raw names of an object.
    func rawNames(ofObjectAt node: Int) -> [String] {
        var names: [String] = []
        names.reserveCapacity(word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            names.append(string(word(index)))
            index = end(ofValueAt: index + 1)
        }
        return names
    }

    /// The names of an object, converted by the key strategy.
    private func convertedNames(ofObjectAt node: Int) -> JSONConvertedNames {
        if let known = storage.pointee.convertedNames[node] { return known }
        let names = JSONConvertedNames(self, node)
        // The number is limited to a few, for the objects that are being decoded, because a text may contain any number.
        if storage.pointee.convertedNames.count >= 16 { storage.pointee.convertedNames.removeAll(keepingCapacity: true) }
        storage.pointee.convertedNames[node] = names
        return names
    }

    @inline(__always) func find(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        let tape = storage.pointee.tape
        let hint = JSONWord(bits: tape[node &+ 3])
        let likely = hint.low
        let end = JSONWord(bits: tape[node &+ 1]).low
        if likely < end, isName(name, at: likely) {
            tape[node &+ 3] = JSONWord(likely, JSONWord.end(ofValueAt: likely &+ 1, tape)).bits
            return likely
        }
        // Types often ask for a member twice: whether it exists, and for its value.
        if hint.high > 0, isName(name, at: hint.high) { return hint.high }
        return search(name, inObjectAt: node, from: likely, end: end)
    }

    @inline(__always) private func isName(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let word = word(index)
        guard word.length == name.count else { return false }
        guard let start = name.baseAddress else { return true }
        return JSONBytes.areEqual(self.name(word), exactly: start, name.count)
    }

    /// Searches from a likely index to the end, then from the beginning.
    @inline(never) private func search(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int, from likely: Int, end: Int) -> Int? {
        let tape = storage.pointee.tape
        let first = node &+ JSONWord.objectHead
        if word(node &+ 1).high > Self.manyMembers {
            guard let index = table(ofObjectAt: node).find(name) else { return canonical(name, inObjectAt: node) }
            tape[node &+ 3] = JSONWord(index, JSONWord.end(ofValueAt: index &+ 1, tape)).bits
            return index
        }
        if storage.pointee.filters.excludes(name, fromObjectAt: node) { return canonical(name, inObjectAt: node) }
        for (start, stop) in [(likely, end), (first, min(likely, end))] {
            var index = start
            while index < stop {
                let next = JSONWord.end(ofValueAt: index &+ 1, tape)
                if isName(name, at: index) {
                    tape[node &+ 3] = JSONWord(index, next).bits
                    return index
                }
                index = next
            }
        }
        if storage.pointee.filters.recordMiss(ofObjectAt: node) { nameFilter(ofObjectAt: node) }
        return canonical(name, inObjectAt: node)
    }

    /// Finds a member with exactly these bytes. Names that are equal only in another canonical form don't match, since finding them would
    /// take a scan of all members.
    func findExactly(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        table(ofObjectAt: node).find(name)
    }

    /// The number of members above which an object gets a name table.
    static let manyMembers = 64

    private func table(ofObjectAt node: Int) -> JSONNameTable {
        if let table = storage.pointee.tables[node] { return table }
        var table = JSONNameTable(storage, count: word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            _ = table.insert(index)
            index = end(ofValueAt: index + 1)
        }
        storage.pointee.tables[node] = table
        return table
    }

    /// Finds a name that is equal in another canonical form, such as “é” as one scalar or as two, which Swift considers equal.
    private func canonical(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        guard name.contains(where: { $0 >= 0x80 }) else { return nil }
        let wanted = String(decoding: name, as: UTF8.self)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            let word = word(index)
            if word.kind != .ascii, string(word) == wanted { return index }
            index = end(ofValueAt: index + 1)
        }
        return nil
    }
}
