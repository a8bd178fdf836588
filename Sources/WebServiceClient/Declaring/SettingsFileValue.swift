import Foundation

/// A value in a file of settings, such as a profile or environments: JSON, or a property list (XML or binary).
///
/// Foundation's decoder reads property lists, since its `PropertyListSerialization` crashes the process on some binary lists that contain
/// a set. The library's parser reads JSON, since it reports the line.
enum SettingsFileValue: Decodable {
    case text(String)
    case flag(Bool)
    case number(Double)
    /// A property list's date.
    case date(Date)
    case list([SettingsFileValue])
    case record([String: SettingsFileValue])
    /// Any other value, such as null or data, which no file of settings uses.
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
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = (try? container.decode(Date.self)).map { .date($0) } ?? .other
            }
        }
    }

    /// Converts a value that code has made, with the types of a property list: `String`, `Bool`, numbers, `Date`, arrays and dictionaries.
    init(_ value: Any) {
        self = Self.converted(value, depth: 8)
    }

    private static func converted(_ value: Any, depth: Int) -> Self {
        switch value {
        case let text as String: return .text(text)
        case let text as Substring: return .text(String(text))
        case let date as Date: return .date(date)
        // Foundation's numbers 0 and 1 can be cast to booleans, and its booleans to numbers.
        case let flag as Bool where !isNumber(value): return .flag(flag)
        case let number as any BinaryInteger: return .number(Double(number))
        case let number as any BinaryFloatingPoint: return .number(Double(number))
        case let number as NSNumber: return .number(number.doubleValue)
        case let record as [String: Any] where depth > 0:
            return .record(record.mapValues { converted($0, depth: depth - 1) })
        case let list as [Any] where depth > 0:
            return .list(list.map { converted($0, depth: depth - 1) })
        default: return .other
        }
    }

    /// Whether a value is one of Foundation's numbers other than true and false.
    private static func isNumber(_ value: Any) -> Bool {
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return false }
        return !["c", "B"].contains(String(cString: number.objCType))
    }

    /// The text; `nil` if the value isn't a text.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
