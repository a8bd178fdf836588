import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite struct CRC32CTests {
    /// RFC 3720, appendix B.4, which gives the bytes in wire order.
    @Test func `agrees with the vectors of RFC 3720`() {
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(CRC32C.checksum(of: Array(0..<32)) == 0x46DD_794E)
        #expect(CRC32C.checksum(of: (0..<32).reversed()) == 0x113F_DB5C)
        let read: [UInt8] = [
            0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0,
            0,
            0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
        ]
        #expect(CRC32C.checksum(of: read) == 0xD996_3A56)
    }

    /// The check value from checksum catalogues.
    @Test func `agrees with the customary check value`() {
        #expect(CRC32C.checksum(of: Array("123456789".utf8)) == 0xE306_9283)
        #expect(CRC32C.checksum(of: []) == 0)
    }

    @Test func `pieces give what the whole gives, wherever it is cut`() {
        var generator = SeededGenerator(seed: 1)
        let bytes = (0..<100).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let whole = CRC32C.checksum(of: bytes)
        for cut in 0...100 {
            var checksum = CRC32C()
            bytes.withUnsafeBytes { bytes in
                checksum.update(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
                checksum.update(UnsafeRawBufferPointer(rebasing: bytes[cut...]))
            }
            #expect(checksum.value == whole)
        }
    }
}
