import Foundation

/// What a profile's bytes hold, as far as a profile needs it.
///
/// It is read by Foundation's decoders: its `PropertyListSerialization` ends the process on some binary lists that hold a set.
enum ServiceProfileValue: Decodable {
    case text(String)
    case list([ServiceProfileValue])
    case record([String: ServiceProfileValue])
    /// Anything else, which has no place in a profile.
    case other

    /// The value of JSON or of a property list; `nil` for what is neither.
    init?(_ data: Data) {
        if let value = try? JSONDecoder().decode(Self.self, from: data) {
            self = value
        } else if (try? PropertyListBounds.check(data)) != nil, let value = try? PropertyListDecoder().decode(Self.self, from: data) {
            self = value
        } else {
            return nil
        }
    }

    init(from decoder: any Decoder) throws {
        if let fields = try? decoder.container(keyedBy: WireKey.self) {
            var record: [String: ServiceProfileValue] = [:]
            for key in fields.allKeys { record[key.stringValue] = try fields.decode(Self.self, forKey: key) }
            self = .record(record)
        } else if var elements = try? decoder.unkeyedContainer() {
            var list: [ServiceProfileValue] = []
            while !elements.isAtEnd { list.append(try elements.decode(Self.self)) }
            self = .list(list)
        } else {
            self = (try? decoder.singleValueContainer().decode(String.self)).map { .text($0) } ?? .other
        }
    }

    /// The text, if it is one.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
