import Foundation
import RemoteLogger

/// Compares values with Foundation's reading of their JSON.
extension LogValue {
    /// - Parameter isFinite: Whether the format writes null for NaN and the infinities.
    func isRead(as found: Any?, isFinite: Bool = false) -> Bool {
        switch self {
        case .null: found is NSNull
        case .bool(let value): found as? Bool == value
        case .int(let value): (found as? NSNumber)?.int64Value == value
        // Compares the text, since the parser makes decimals on Linux, whose `doubleValue` isn't the nearest one.
        case .double(let value) where value.isFinite: (found as? NSNumber).flatMap { Double("\($0)") } == value
        case .double(let value):
            isFinite ? found is NSNull : found as? String == (value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
        case .string(let value): (found as? String)?.withoutMarks == value.withoutMarks
        case .data(let value): found as? String == value.base64EncodedString()
        case .date(let value): (found as? String).map { Self.isDate($0, value) } ?? false
        case .array(let values):
            (found as? [Any]).map { found in
                found.count == values.count && zip(values, found).allSatisfy { $0.isRead(as: $1, isFinite: isFinite) }
            } ?? false
        case .dictionary(let values): values.isRead(as: found, isFinite: isFinite)
        }
    }

    /// Compares a value that is a text in formats without other types: arrays in it are JSON.
    func isRead(asText text: String?) -> Bool {
        guard let text else { return false }
        switch self {
        case .null: return text == "null"
        case .bool(let value): return text == (value ? "true" : "false")
        case .int(let value): return text == String(value)
        case .double(let value): return Double(text).map { $0 == value || $0.isNaN && value.isNaN } ?? false
        case .array, .dictionary: return isRead(as: try? JSONSerialization.jsonObject(with: Data(text.utf8)))
        case .string, .date, .data: return isRead(as: text)
        }
    }

    private static func isDate(_ text: String, _ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970
        guard (-62_135_596_800..<253_402_300_799).contains(seconds.rounded(.down)) else { return text == seconds.description }
        let parts = text.split(separator: ".")
        guard parts.count == 2, parts[1].count == 7, parts[1].hasSuffix("Z"), let fraction = Double("0." + parts[1].dropLast()) else {
            return false
        }
        // Foundation uses the Julian calendar before that day, unlike RFC 3339.
        guard seconds > -12_219_292_800 else { return true }
        guard let whole = try? Date(parts[0] + "Z", strategy: .iso8601) else { return false }
        return abs(whole.timeIntervalSince1970 + fraction - seconds) < 0.000_002
    }
}

extension LogMetadata {
    /// Whether these are exactly an object's members.
    ///
    /// - Parameter isFinite: Whether the format writes null for NaN and the infinities, and renames names with a blank part.
    func isRead(as found: Any?, isFinite: Bool = false) -> Bool {
        guard let found = found as? [String: Any] else { return false }
        let members = Dictionary(found.map { ($0.key.withoutMarks, $0.value) }) { first, _ in first }
        // The parser treats names that differ only in a byte order mark as equal, and keeps one of their values.
        let pairs = Dictionary(grouping: self) { $0.key.withoutMarks }
        let named = pairs.filter { name, pairs in pairs.count == 1 && !(isFinite && pairs[0].key.hasBlankPart) }
        guard named.allSatisfy({ name, pairs in pairs[0].value.isRead(as: members[name], isFinite: isFinite) }) else { return false }
        return named.count < pairs.count || members.count == pairs.count
    }

    /// The values by their paths, for receivers without nesting.
    var flat: [(name: String, value: LogValue)] {
        flatMap { pair -> [(name: String, value: LogValue)] in
            // An empty dictionary has no nested names.
            guard case .dictionary(let values) = pair.value, !values.isEmpty else { return [(pair.key, pair.value)] }
            return values.flat.map { ("\(pair.key).\($0.name)", $0.value) }
        }
    }
}

extension String {
    /// Foundation's parser on Linux drops U+FEFF from texts.
    var withoutMarks: String { String(UnicodeScalarView(unicodeScalars.filter { $0 != "\u{FEFF}" })) }

    fileprivate var hasBlankPart: Bool {
        split(separator: ".", omittingEmptySubsequences: false).contains { $0.allSatisfy(\.isWhitespace) }
    }

    /// The text with `_` for every character except ASCII letters, ASCII digits and these signs.
    func keeping(_ signs: String) -> String {
        let kept = unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || signs.unicodeScalars.contains(scalar)
                ? Character(scalar) : "_"
        }
        return String(kept)
    }
}
