#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A value behind a mutex: the one lock type of the package. Copies share both.
///
/// It is a pthread mutex since `Synchronization.Mutex` gives the thread sanitizer false reports on Linux and needs newer Apple
/// platforms than the package does. The mutex isn't recursive: calling ``withLock(_:)`` inside the body of another on the same
/// value dead-locks, so bodies stay short and call nobody else.
///
/// `@unchecked Sendable`: the value is only ever touched while the mutex is held.
@usableFromInline @frozen package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline package let storage: LockedStorage<Value>

    package init(_ value: Value) {
        storage = LockedStorage.holding(value)
    }

    /// Whether both are one, and not just alike.
    package func isSame(as other: Locked) -> Bool { storage === other.storage }

    /// Runs the body with exclusive access to the value and gives what it returns.
    ///
    /// It is inlined so that other modules get it for their own types: as generic code it costs more than most bodies.
    @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        // What the pointers point into must outlive them.
        defer { withExtendedLifetime(storage) {} }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

/// The memory of a ``Locked``: the mutex, and behind it the value, in one object. Not as stored properties: the mutex tells who may touch
/// the value, hence nothing else has to check each access.
@usableFromInline package final class LockedStorage<Value>: ManagedBuffer<pthread_mutex_t, Value> {
    static func holding(_ value: Value) -> LockedStorage {
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
