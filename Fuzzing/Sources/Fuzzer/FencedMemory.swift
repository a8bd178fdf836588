import Foundation

/// Memory followed by unreadable memory: a reader that goes past the end of its text is stopped at once.
enum FencedMemory {
    private static let size = 1 << 16
    /// Allocated once, for a process that runs one input after the other.
    private nonisolated(unsafe) static let start: UnsafeMutableRawPointer = {
        guard let memory = mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0), memory != MAP_FAILED,
            mprotect(memory + size, size, PROT_NONE) == 0
        else { fatalError("Out of memory.") }
        return memory
    }()

    /// Lends a text of at most 64 KiB that ends where the memory ends.
    static func lend<Value>(_ text: Data, _ body: (Data) -> Value) -> Value {
        let place = start + (size - text.count)
        text.copyBytes(to: UnsafeMutableRawBufferPointer(start: place, count: text.count))
        return body(Data(bytesNoCopy: place, count: text.count, deallocator: .none))
    }
}
