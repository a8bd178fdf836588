import Foundation
import Testing

@testable import RemoteLogger

@Suite struct ByteBufferTests {
    private static func bytes(_ buffer: ByteBuffer) -> [UInt8] { buffer.withBytes { Array($0) } }

    @Test func `a copy keeps what it has when the other one is written to`() {
        var first = ByteBuffer()
        first.append(1)
        var second = first
        second.append(2)
        first.append(3)
        #expect(Self.bytes(first) == [1, 3] && Self.bytes(second) == [1, 2])
        second.truncate(to: 0)
        second.append(9)
        #expect(Self.bytes(first) == [1, 3] && Self.bytes(second) == [9])
    }

    @Test(arguments: [256, 16_384, 1 << 20])
    func `data stays as it is when the buffer is written on, or over, or gone`(count: Int) {
        var buffer: ByteBuffer? = ByteBuffer()
        for number in 0..<count { buffer?.append(UInt8(truncatingIfNeeded: number)) }
        let data = buffer?.data
        buffer?.overwrite(at: 0, with: .max)
        buffer?.append(7)
        #expect(buffer.map { Self.bytes($0).prefix(4) == [255, 255, 255, 255] && $0.count == count + 1 } == true)
        buffer = nil
        #expect(data == Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(ByteBuffer().data.isEmpty)
    }

    @Test func `it grows by any pieces`() {
        var buffer = ByteBuffer()
        var expected: [UInt8] = []
        for size in [0, 1, 63, 64, 65, 1_000, 0, 70_000] {
            let piece = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            piece.withUnsafeBufferPointer { buffer.append($0) }
            expected += piece
            buffer.reserve(expected.count + size)
        }
        #expect(Self.bytes(buffer) == expected && buffer.last == expected.last)
    }

    @Test func `what isn't there isn't written over`() {
        var buffer = ByteBuffer()
        for byte in UInt8(1)...5 { buffer.append(byte) }
        buffer.overwrite(at: 2, with: 0)
        buffer.overwrite(at: -1, with: 0)
        #expect(Self.bytes(buffer) == [1, 2, 3, 4, 5])
        buffer.overwrite(at: 1, with: 0x0807_0605)
        #expect(Self.bytes(buffer) == [1, 5, 6, 7, 8])
    }
}
