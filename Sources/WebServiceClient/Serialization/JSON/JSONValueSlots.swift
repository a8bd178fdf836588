import Foundation

/// The places of untyped values in a text that Foundation's encoder writes.
///
/// That encoder would lose the order of members and digits of numbers, and rename members by its strategy for keys. So each value is
/// encoded as a text that occurs nowhere else, and replaced by its own JSON afterwards. The values of other encoders in the same task don't
/// take part: ``JSONSerializer`` marks its encoder.
final class JSONValueSlots: Sendable {
    /// Identifies the encoder of a serializer.
    final class Mark: Sendable {}

    @TaskLocal private static var current: JSONValueSlots?

    private static let markKey = CodingUserInfoKey(rawValue: "JSONSerializer")
    /// The beginning of all texts of this process: 128 random bits, which never leave it.
    private static let prefix = Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) }) + "-"
    private static let quote = UInt8(ascii: "\"")

    private let mark: Mark
    private let values = Locked<[[UInt8]]>([])

    private init(_ mark: Mark) { self.mark = mark }

    /// Marks a serializer's encoder.
    static func mark(_ encoder: JSONEncoder) {
        guard let markKey, encoder.userInfo[markKey] == nil else { return }
        encoder.userInfo[markKey] = Mark()
    }

    /// Encodes a value with a marked encoder.
    static func encode(_ value: any Encodable, with encoder: JSONEncoder) throws -> Data {
        guard let mark = markKey.flatMap({ encoder.userInfo[$0] }) as? Mark else { return try encoder.encode(value) }
        let slots = JSONValueSlots(mark)
        let text = try $current.withValue(slots) { try encoder.encode(value) }
        // A type whose own coding uses the encoder of the serializer may have put a text inside another one.
        return try slots.filled(text) ?? encoder.encode(value)
    }

    /// Writes a value into a text that is being encoded.
    ///
    /// - Returns: Whether the encoder takes part.
    static func take(_ encoder: any Encoder, _ write: (inout [UInt8]) -> Void) throws -> Bool {
        guard let slots = current, let mark = markKey.flatMap({ encoder.userInfo[$0] }) as? Mark, mark === slots.mark else { return false }
        var json: [UInt8] = []
        write(&json)
        let index = slots.values.withLock { [json] values in
            values.append(json)
            return values.count - 1
        }
        var container = encoder.singleValueContainer()
        try container.encode("\(prefix)\(index)")
        return true
    }

    /// Replaces the texts by the values; `nil` if one is missing.
    private func filled(_ text: Data) -> Data? {
        let values = values.withLock { $0 }
        guard !values.isEmpty else { return text }
        let start = [Self.quote] + Array(Self.prefix.utf8)
        let bytes = Array(text)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + values.reduce(0) { $0 + $1.count })
        var (index, count) = (0, 0)
        while index < bytes.count {
            if bytes[index] == Self.quote, bytes[index...].starts(with: start) {
                let digits = bytes[(index + start.count)...].prefix { $0 != Self.quote }
                if let slot = Int(String(decoding: digits, as: UTF8.self)), values.indices.contains(slot) {
                    result += values[slot]
                    count += 1
                    index = digits.endIndex + 1
                    continue
                }
            }
            result.append(bytes[index])
            index += 1
        }
        return count == values.count ? Data(result) : nil
    }
}
