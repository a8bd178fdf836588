import Testing

@testable import HTTPTransport

@Suite struct StringBytesTests {
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
