/// Prefixes by their first two bytes.
struct TokenPrefixes: Sendable {
    private let table: [[TokenPrefix]]

    init(_ prefixes: [TokenPrefix]) {
        var table = [[TokenPrefix]](repeating: [], count: prefixes.isEmpty ? 0 : 1_024)
        for prefix in prefixes {
            guard let first = prefix.bytes.first else { continue }
            let seconds = prefix.bytes.count > 1 ? [prefix.bytes[1]] : Array(0..<32)
            for second in seconds { table[Self.index(first, second)].append(prefix) }
        }
        self.table = table
    }

    private static func index(_ first: UInt8, _ second: UInt8) -> Int {
        Int(first & 31) << 5 | Int(second & 31)
    }

    /// The end of the token that begins at a place; `nil` if none does.
    func end(from start: Int, to limit: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !table.isEmpty, limit - start >= SecretSearch.shortestRun else { return nil }
        let candidates = table[Self.index(bytes[start], bytes[start + 1])]
        guard !candidates.isEmpty else { return nil }
        for prefix in candidates where prefix.bytes.count + prefix.count <= limit - start {
            guard prefix.bytes.indices.allSatisfy({ bytes[start + $0].lowercased == prefix.bytes[$0] }) else { continue }
            let content = start + prefix.bytes.count
            // Enough of it tells whether it is one.
            let sample = content..<Self.end(of: prefix, from: content, to: min(limit, content + 64), in: bytes)
            guard sample.count >= prefix.count, Self.isRandom(bytes, sample) else { continue }
            return Self.end(of: prefix, from: content, to: limit, in: bytes)
        }
        return nil
    }

    private static func end(of prefix: TokenPrefix, from start: Int, to limit: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var end = start
        while end < limit,
            bytes[end].isAlphanumeric || bytes[end] == UInt8(ascii: "-") || bytes[end] == UInt8(ascii: "_")
                || bytes[end] == UInt8(ascii: ".") || prefix.isPath && bytes[end] == UInt8(ascii: "/")
        {
            end += 1
        }
        return end
    }

    /// Words in a row aren't random: tokens have digits among their letters.
    private static func isRandom(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        range.contains { bytes[$0].isDigit } || range.allSatisfy { bytes[$0].isAlphanumeric }
    }
}
