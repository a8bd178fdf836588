import Foundation

/// A value that one thread at a time accesses; the standard library's `Mutex` needs newer systems than the library does.
final class Guarded<Value: Sendable>: @unchecked Sendable {  // The lock guards the value.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
