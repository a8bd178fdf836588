import Foundation

/// Finds what Foundation's encoder writes for a `Decimal` that isn't a number: `NaN`, which isn't JSON.
enum JSONNumberCheck {
    /// A collection that contains the current position.
    private struct Level {
        let isObject: Bool
        /// The place of the current member's name in the text.
        var name: Range<Int>?
        var index = 0
    }

    private static let mark = UInt8(ascii: "N")

    /// Returns the text, if all of its numbers are JSON.
    ///
    /// - Throws: `EncodingError` with the path of the first that isn't.
    static func checked(_ text: Data) throws -> Data {
        // Only "NaN" has this letter outside of strings, and most texts don't have it at all.
        let path: [JSONKey]? = text.withUnsafeBytes { $0.contains(mark) ? self.path(in: $0.bindMemory(to: UInt8.self)) : nil }
        guard let path else { return text }
        throw EncodingError.invalidValue(
            Decimal.nan, .init(codingPath: path, debugDescription: "The decimal is NaN, which JSON can't contain."))
    }

    /// The path of the first `NaN` outside of strings.
    private static func path(in text: UnsafeBufferPointer<UInt8>) -> [JSONKey]? {
        var levels: [Level] = []
        var string = 0..<0
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                let start = index + 1
                index = start
                while index < text.count, text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
                string = start..<min(index, text.count)
            case UInt8(ascii: ":"):
                if let last = levels.indices.last { levels[last].name = string }
            case UInt8(ascii: ","):
                if let last = levels.indices.last { levels[last].index += 1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                levels.append(Level(isObject: text[index] == UInt8(ascii: "{")))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
            case mark:
                return levels.map { level in
                    guard level.isObject, let name = level.name else { return JSONKey(index: level.index) }
                    return JSONKey(String(decoding: text[name], as: UTF8.self))
                }
            default: break
            }
            index += 1
        }
        return nil
    }
}
