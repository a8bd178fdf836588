import Testing

@testable import HTTPTransport

@Suite struct MessagePaddingTests {
    @Test(arguments: [MessagePadding.LengthField.littleEndian64, .bigEndian64, .bigEndian128])
    func `the padding fills the last block, and the one before where the length doesn't fit`(field: MessagePadding.LengthField) {
        let blockLength = field == .bigEndian128 ? 128 : 64
        for count in 0...(3 * blockLength) {
            let padding = MessagePadding.bytes(afterMessageOf: UInt64(count), blockLength: blockLength, lengthField: field)
            #expect((count + padding.count).isMultiple(of: blockLength))
            #expect(padding.count > field.byteCount && padding.count <= blockLength + field.byteCount)
            #expect(padding.first == 0x80)
            #expect(padding.dropFirst().dropLast(field.byteCount).allSatisfy { $0 == 0 })
        }
    }

    @Test func `lengths beyond 2^32 bits are written whole`() {
        let count: UInt64 = (1 << 33) + 5
        let bigEndian: [UInt8] = [0, 0, 0, 16, 0, 0, 0, 40]
        #expect(MessagePadding.bytes(afterMessageOf: count, blockLength: 64, lengthField: .bigEndian64).suffix(8) == bigEndian[...])
        #expect(
            Array(MessagePadding.bytes(afterMessageOf: count, blockLength: 64, lengthField: .littleEndian64).suffix(8))
                == bigEndian.reversed())
    }

    @Test func `lengths beyond 2^64 bits use the upper half of a field of 128 bits`() {
        let padding = MessagePadding.bytes(afterMessageOf: .max, blockLength: 128, lengthField: .bigEndian128)
        #expect(Array(padding.suffix(16)) == [0, 0, 0, 0, 0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 248])
    }
}
