#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Marks the current thread while sinks are being written to, to tell when one of them logs.
struct SinkMark {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Any address will do; this one is never read through.
    private static var set: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 1) }

    /// Marks the thread; `nil` when it is marked already.
    init?() {
        guard pthread_getspecific(Self.key) == nil else { return nil }
        pthread_setspecific(Self.key, Self.set)
    }

    func remove() {
        pthread_setspecific(Self.key, nil)
    }
}
