import Foundation

/// Metadata for receivers without nesting: the names of nested values are joined by dots, arrays are JSON.
enum FlatMetadata {
    /// The maximum number of bytes of the path to a nested value. Each nested value repeats its path: without a bound, one long name with
    /// many nested values would multiply the record's size.
    private static let longestPath = 256

    /// The values by their joined names, in order. The same name can occur more than once.
    static func pairs(of metadata: LogMetadata) -> [(name: String, value: LogValue)] {
        var pairs: [(name: String, value: LogValue)] = []
        pairs.reserveCapacity(metadata.count)
        append(metadata, prefix: "", depth: 0, to: &pairs)
        return pairs
    }

    private static func append(_ metadata: LogMetadata, prefix: String, depth: Int, to pairs: inout [(name: String, value: LogValue)]) {
        for pair in metadata {
            let name = prefix.isEmpty ? pair.key : prefix + "." + pair.key
            // An empty dictionary has no nested names, so it keeps its own.
            guard case .dictionary(let values) = pair.value, !values.isEmpty else {
                pairs.append((name, pair.value))
                continue
            }
            if depth < LogValue.maximumDepth {
                append(values, prefix: String(Self.prefix(of: name, bytes: longestPath)), depth: depth + 1, to: &pairs)
            } else {
                pairs.append((name, .string(LogValue.tooDeep)))
            }
        }
    }

    /// A value as text: strings as they are, data in Base64, dates as timestamps, doubles as Swift prints them, other values as JSON.
    static func text(of value: LogValue) -> String {
        switch value {
        case .string(let text): return text
        case .double(let number): return String(number)
        case .data(let data): return data.base64EncodedString()
        case .date(let date): return TimestampText.text(of: date)
        default:
            var text = JSONText()
            text.value(value)
            return text.string
        }
    }

    /// A name with every character replaced by `_` except ASCII letters, digits, and `signs`.
    static func name(_ name: String, allowing signs: String, maximum: Int = .max) -> String {
        let fits = { (byte: UInt8) in byte.isAlphanumeric || signs.utf8.contains(byte) }
        if name.utf8.count <= maximum, name.utf8.allSatisfy(fits) { return name }
        let scalars = name.unicodeScalars.prefix(maximum).map { scalar in
            scalar.isASCII && fits(UInt8(truncatingIfNeeded: scalar.value)) ? Character(scalar) : "_"
        }
        return String(scalars)
    }

    /// The beginning of a text, at most `limit` bytes, cut between Unicode scalars.
    static func prefix(of text: String, bytes limit: Int) -> Substring {
        guard text.utf8.count > limit else { return text[...] }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end]
    }
}
