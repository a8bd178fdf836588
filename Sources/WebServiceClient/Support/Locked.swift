#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A value behind a mutex: the one lock type of the package.
///
/// It is a pthread mutex since `Synchronization.Mutex` gives the thread sanitizer false reports on Linux and needs newer Apple
/// platforms than the package does. The mutex isn't recursive: calling ``withLock(_:)`` inside the body of another on the same
/// value dead-locks, so bodies stay short and call nobody else.
///
/// `@unchecked Sendable`: the value is only ever touched while the mutex is held.
@usableFromInline package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Behind the mutex in memory, and not in the object: the mutex tells who may touch it, hence nothing else has to check each access.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        let alignment = max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<Value>.alignment)
        let offset = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
        // A value of no size has a place too: what is next in memory isn't its own, and the thread sanitizer would say so.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: offset + max(1, MemoryLayout<Value>.size), alignment: alignment)
        mutex = memory.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
        self.value = (memory + offset).initializeMemory(as: Value.self, to: value)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        value.deinitialize(count: 1)
        mutex.deinitialize(count: 1)
        UnsafeMutableRawPointer(mutex).deallocate()
    }

    /// Runs the body with exclusive access to the value and gives what it returns.
    ///
    /// It is inlined so that other modules get it for their own types: as generic code it costs more than most bodies.
    @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
