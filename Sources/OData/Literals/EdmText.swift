/// How values of the Entity Data Model that are texts in JSON are read and written there: one home for all of them.
enum EdmText {
    /// The value of the text that a decoder holds.
    ///
    /// - Parameter example: what a text would be right, such as `a date such as 2026-11-21`.
    static func read<Value>(from decoder: any Decoder, by make: (String) -> Value?, like example: String) throws -> Value {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = make(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text.prefix(60))' isn't \(example).")
        }
        return value
    }

    /// Writes a value as its description.
    static func write(_ value: some CustomStringConvertible, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }

    /// The name of an enumeration's member; services that write numbers are understood, too.
    static func memberName(from decoder: any Decoder) throws -> String {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) { return text }
        return String(try container.decode(Int64.self))
    }
}
