import Foundation

/// A growing sequence of bytes that becomes a `Data` without a copy.
///
/// A value with copy-on-write, like an array: copies share the memory until one of them writes.
struct ByteBuffer: Sendable {
    /// `@unchecked Sendable`: the memory changes only while a single buffer refers to it. A `Data` made from it counts as that reference,
    /// so nothing may be written while the `Data` exists: formats take it once, at the end.
    private final class Memory: @unchecked Sendable {
        let start: UnsafeMutablePointer<UInt8>
        let capacity: Int

        init(capacity: Int) {
            start = .allocate(capacity: capacity)
            self.capacity = capacity
        }

        convenience init(copying other: Memory, count: Int, capacity: Int) {
            self.init(capacity: capacity)
            start.initialize(from: other.start, count: count)
        }

        deinit {
            start.deallocate()
        }
    }

    private var memory = Memory(capacity: 64)
    private(set) var count = 0

    /// Makes room for `capacity` bytes in total.
    mutating func reserve(_ capacity: Int) {
        if capacity > count { _ = room(capacity - count) }
    }

    /// The address of the next byte, with room for at least `need` bytes. ``advance(by:)`` counts the bytes that were written.
    @inline(__always) mutating func room(_ need: Int) -> UnsafeMutablePointer<UInt8> {
        if !isKnownUniquelyReferenced(&memory) || memory.capacity - count < need { makeRoom(need) }
        return memory.start + count
    }

    @inline(__always) mutating func advance(by written: Int) {
        count += written
    }

    @inline(never) private mutating func makeRoom(_ need: Int) {
        let capacity = max(count + need, memory.capacity - count < need ? memory.capacity * 2 : memory.capacity)
        memory = Memory(copying: memory, count: count, capacity: capacity)
    }

    @inline(__always) mutating func append(_ byte: UInt8) {
        room(1).pointee = byte
        count += 1
    }

    @inline(__always) mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        room(bytes.count).update(from: start, count: bytes.count)
        count += bytes.count
    }

    /// Overwrites four existing bytes with a little-endian number.
    mutating func overwrite(at offset: Int, with value: UInt32) {
        guard offset >= 0, offset + 4 <= count else { return }
        _ = room(0)
        UnsafeMutableRawPointer(memory.start + offset).storeBytes(of: value.littleEndian, as: UInt32.self)
    }

    /// Removes the bytes after the first `count` and keeps the memory.
    mutating func truncate(to count: Int) {
        self.count = min(self.count, max(0, count))
    }

    /// The last byte; `nil` if there is none.
    var last: UInt8? { count > 0 ? memory.start[count - 1] : nil }

    /// Passes the bytes to a function, which mustn't keep them.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withExtendedLifetime(memory) { body(UnsafeBufferPointer(start: memory.start, count: count)) }
    }

    /// Passes the bytes to a function, which mustn't keep them.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withBytes { body(UnsafeRawBufferPointer($0)) }
    }

    /// The bytes, in the same memory.
    var data: Data {
        guard count > 0 else { return Data() }
        return Data(bytesNoCopy: memory.start, count: count, deallocator: .custom { [memory] _, _ in withExtendedLifetime(memory) {} })
    }
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDigit: Bool { self &- 0x30 < 10 }
    /// Whether it is an ASCII letter or digit.
    var isAlphanumeric: Bool { isDigit || (self | 0x20) &- 0x61 < 26 }
}
