import Foundation

/// What a profile's bytes hold, as far as a profile needs it.
///
/// Property lists are read by Foundation's decoder: its `PropertyListSerialization` ends the process on some binary lists that hold a set. JSON is
/// read by the library's own, which tells the line.
enum ServiceProfileValue: Decodable {
    case text(String)
    case flag(Bool)
    case list([ServiceProfileValue])
    case record([String: ServiceProfileValue])
    /// Anything else, which has no place in a profile.
    case other

    /// The value of JSON or of a property list.
    ///
    /// - Throws: why the data is neither, with the place where the parser tells it.
    init(_ data: Data) throws {
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "<") || data.starts(with: Array("bplist".utf8)) {
            self = try Self.list(data)
            return
        }
        do {
            self = try JSONReader().decode(Self.self, from: data)
        } catch {
            // A list in another charset, or in the oldest form.
            guard let list = try? Self.list(data) else { throw error }
            self = list
        }
    }

    private static func list(_ data: Data) throws -> Self {
        try PropertyListBounds.check(data)
        return try PropertyListDecoder().decode(Self.self, from: data)
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
            let container = try decoder.singleValueContainer()
            self =
                (try? container.decode(String.self)).map { .text($0) } ?? (try? container.decode(Bool.self)).map { .flag($0) } ?? .other
        }
    }

    /// The text, if it is one.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
