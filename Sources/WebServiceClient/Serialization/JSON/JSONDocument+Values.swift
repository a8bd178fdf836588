import Foundation

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
        case .ascii: return JSONText.string(bytes(word), word.length, isASCII: true)
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

    /// Infinity or no number, as a text.
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

    /// That a value is of another kind than is needed; for null, that there is none.
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

    /// That a number doesn't fit.
    @inline(never) private func unrepresentable(_ type: Any.Type, at place: JSONPlace) -> DecodingError {
        let word = word(place.index)
        let number = JSONText.string(bytes(word), min(word.length, 200), isASCII: true)
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path(of: place),
                debugDescription: "\(type) can't hold the number \(SerializationError.excerpt(number, upTo: 50))."))
    }
}
