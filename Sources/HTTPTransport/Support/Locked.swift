#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A value that is protected by a mutex: the only lock type of the package. Copies share the value and the mutex.
///
/// It uses a pthread mutex, because `Synchronization.Mutex` causes false reports of the thread sanitizer on Linux and requires newer Apple
/// platforms than the package. The mutex isn't recursive: calling ``withLock(_:)`` within the body of another call on the same value
/// deadlocks, so bodies must be short and must not call other code.
///
/// `@unchecked Sendable`: the value is accessed only while the mutex is held.
@usableFromInline @frozen package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline package let storage: LockedStorage<Value>

    @inlinable package init(_ value: Value) {
        storage = LockedStorage.holding(value)
    }

    /// Whether both share the same storage.
    package func isSame(as other: Locked) -> Bool { storage === other.storage }

    /// Calls the body with exclusive access to the value and returns its result.
    ///
    /// It is inlinable, so that other modules can specialize it: unspecialized generic code costs more than most bodies.
    @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        // The storage must outlive the pointers into it.
        defer { withExtendedLifetime(storage) {} }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

/// The memory of a ``Locked``: the mutex, followed by the value, in one object. They aren't stored properties, because the mutex already
/// guarantees exclusive access, and dynamic checks of each access would be redundant.
@usableFromInline package final class LockedStorage<Value>: ManagedBuffer<pthread_mutex_t, Value> {
    @inlinable package static func holding(_ value: Value) -> LockedStorage {
        let buffer = create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        buffer.withUnsafeMutablePointers { mutex, place in
            pthread_mutex_init(mutex, nil)
            place.initialize(to: value)
        }
        return unsafeDowncast(buffer, to: LockedStorage.self)
    }

    deinit {
        withUnsafeMutablePointers { mutex, value in
            pthread_mutex_destroy(mutex)
            value.deinitialize(count: 1)
        }
    }
}
