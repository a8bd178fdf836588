import Foundation

/// A model of what Graylog keeps of a GELF message after it has answered 202. Like its codec and its messages, it discards silently.
enum GraylogJudge {
    /// Returns the stored fields of a message, by name; `nil` if it is discarded.
    static func stored(_ data: Data) -> [String: String]? {
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let host = (object["host"] as? String).map(trimmed), !host.isEmpty,
            let message = (object["short_message"] as? String).map(trimmed), !message.isEmpty
        else { return nil }
        var fields = ["_id": "its own", "message": message, "source": host, "timestamp": "\(object["timestamp"] ?? "now")"]
        if let level = object["level"] as? Int { fields["level"] = String(level) }
        for (name, value) in object.sorted(by: { $0.key < $1.key }) where name != "version" {
            let key = name.hasPrefix("_") ? String(name.dropFirst()) : name
            guard !["short_message", "host"].contains(key), fields[key] == nil, !reserved.contains(key),
                key.utf8.allSatisfy(isPart), let text = text(of: value)
            else { continue }
            fields[key] = text
        }
        // The index allows no dots in names: of two fields with the same name, one is lost.
        var documents: [String: String] = [:]
        for (key, value) in fields where !key.hasPrefix("gl2_") && key != "streams" { documents[key.replacing(".", with: "_")] = value }
        return documents
    }

    /// The names reserved by Elasticsearch.
    private static let reserved: Set<String> = ["_id", "_ttl", "_source", "_all", "_index", "_type", "_score"]

    /// `[\w.\-@]`, in Java.
    private static func isPart(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return byte < 0x80 && (character.isLetter || character.isNumber || "_.-@".contains(character))
    }

    /// Java's `trim()`, which also removes control characters.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars.drop { $0.value <= 0x20 }
        return String(String.UnicodeScalarView(scalars.reversed().drop { $0.value <= 0x20 }.reversed()))
    }

    /// Returns the text of a number or nonblank string; Booleans and nulls are skipped.
    private static func text(of value: Any) -> String? {
        if let text = value as? String { return trimmed(text).isEmpty ? nil : trimmed(text) }
        guard let number = value as? NSNumber, String(cString: number.objCType) != "c" else { return nil }
        return number.stringValue
    }
}
