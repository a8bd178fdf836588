import Foundation

/// Any JSON value, for comparing readers. Both compare names as texts, so names that are equal as texts are the same.
enum JSONTree: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            var members: [String: JSONTree] = [:]
            for name in object.allKeys { members[name.stringValue] = try object.decode(JSONTree.self, forKey: name) }
            self = .object(members.count == object.allKeys.count ? members : [:])
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [JSONTree] = []
            while !array.isAtEnd { values.append(try array.decode(JSONTree.self)) }
            self = .array(values)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else {
            // All widths of integers and decimals are tried; a value that isn't a Double is 0 for both readers.
            _ = (
                try? value.decode(Int8.self), try? value.decode(UInt64.self), try? value.decode(Float.self), try? value.decode(Decimal.self)
            )
            self = .number((try? value.decode(Double.self)) ?? 0)
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
