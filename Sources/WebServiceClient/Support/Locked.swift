#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A value behind a mutex: the one lock type of the package.
///
/// It is a pthread mutex since `Synchronization.Mutex` gives the thread sanitizer false reports on Linux and needs newer Apple
/// platforms than the package does. The mutex isn't recursive: calling ``withLock(_:)`` inside the body of another on the same
/// value dead-locks, so bodies stay short and call nobody else.
///
/// `@unchecked Sendable`: the value is only ever touched while the mutex is held.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs the body with exclusive access to the value and gives what it returns.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
