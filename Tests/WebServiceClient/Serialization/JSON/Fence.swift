import Foundation

/// Memory followed by an unreadable page.
final class Fence {
    private let memory: UnsafeMutableRawPointer
    private let size: Int

    init?(size: Int = 1 << 16) {
        self.size = size
        guard let memory = mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0), memory != MAP_FAILED,
            mprotect(memory + size, size, PROT_NONE) == 0
        else { return nil }
        self.memory = memory
    }

    deinit { munmap(memory, 2 * size) }

    /// Reads a text that ends at the end of the readable memory.
    func read<Value>(_ text: [UInt8], _ body: (Data) throws -> Value) rethrows -> Value {
        let start = memory + (size - text.count)
        UnsafeMutableRawBufferPointer(start: start, count: text.count).copyBytes(from: text)
        return try body(Data(bytesNoCopy: start, count: text.count, deallocator: .none))
    }

    /// Makes all of the memory unreadable. Unlike unmapping, this prevents other data from being placed there.
    func close() -> Bool { mprotect(memory, size, PROT_NONE) == 0 }
}
