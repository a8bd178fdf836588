import Testing

@testable import HTTPTransport

@Suite struct StringBytesTests {
    @Test func `Bytes below a limit are found as one by one, at every place and beside every neighbour`() {
        for count in 0...19 {
            for place in 0..<max(count, 1) {
                for byte: UInt8 in [0, 9, 10, 13, 14, 15, 31, 32, 127] {
                    for filler: UInt8 in [14, 15, 127] {
                        var bytes = [UInt8](repeating: filler, count: count)
                        if count > 0 { bytes[place] = byte }
                        let text = String(decoding: bytes, as: UTF8.self)
                        #expect(text.hasBytes(below: 14) == bytes.contains { $0 < 14 }, "\(bytes)")
                    }
                }
            }
        }
        for text in ["é\u{80}\u{ff}€😀 and more of it", "\u{80}\n", "ééééééé\r", "a longer text that isn't ASCII: ä\u{0}"] {
            #expect(text.hasBytes(below: 14) == text.utf8.contains { $0 < 14 })
            #expect(text.hasBytes(below: 128) == text.utf8.contains { $0 < 128 })
        }
    }

    @Test func `All bytes are of a kind, or not, wherever another one stands`() {
        for count in 1...40 {
            for place in 0..<count {
                var bytes = [UInt8](repeating: 65, count: count)
                #expect(String(decoding: bytes, as: UTF8.self).hasOnlyBytes { $0 == 65 })
                bytes[place] = 66
                #expect(!String(decoding: bytes, as: UTF8.self).hasOnlyBytes { $0 == 65 })
            }
        }
        #expect("".hasOnlyBytes { _ in false })
    }
}
