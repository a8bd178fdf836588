import Foundation

/// A value in a file of settings, such as a profile or environments: JSON, or a property list (XML or binary).
///
/// Foundation's decoder reads property lists, since its `PropertyListSerialization` crashes the process on some binary lists that contain
/// a set. The library's parser reads JSON, since it reports the line.
enum SettingsFileValue: Decodable {
    case text(String)
    case flag(Bool)
    case number(Double)
    case list([SettingsFileValue])
    case record([String: SettingsFileValue])
    /// Any other value, such as null or a date, which no file of settings uses.
    case other

    /// Parses JSON or a property list.
    ///
    /// - Throws: The reason why the data is neither, with the place if the parser reports it.
    init(_ data: Data) throws {
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "<") || data.starts(with: Array("bplist".utf8)) {
            self = try Self.list(data)
            return
        }
        do {
            self = try JSONReader().decode(Self.self, from: data)
        } catch {
            // A property list in another charset, or in the oldest format.
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
            var record: [String: SettingsFileValue] = [:]
            for key in fields.allKeys { record[key.stringValue] = try fields.decode(Self.self, forKey: key) }
            self = .record(record)
        } else if var elements = try? decoder.unkeyedContainer() {
            var list: [SettingsFileValue] = []
            while !elements.isAtEnd { list.append(try elements.decode(Self.self)) }
            self = .list(list)
        } else {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else {
                self = (try? container.decode(Double.self)).map { .number($0) } ?? .other
            }
        }
    }

    /// The text; `nil` if the value isn't a text.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
