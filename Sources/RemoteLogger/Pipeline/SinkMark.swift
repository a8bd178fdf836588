#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Marks the current thread while a record is masked and sinks are being written to, to tell when one of them logs.
struct SinkMark {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Any address will do; these are never read through.
    private static var set: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 1) }
    private static var finding: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 2) }

    /// Marks the thread; `nil` when it is marked already.
    init?() {
        guard pthread_getspecific(Self.key) == nil else { return nil }
        pthread_setspecific(Self.key, Self.set)
    }

    /// Looks for secrets by a rule of the program's. One that logs makes no record by that, and one that makes texts be masked isn't asked for
    /// those: it would ask itself without end.
    static func find<Found>(_ body: () -> [Found]) -> [Found] {
        let before = pthread_getspecific(key).map { UnsafeRawPointer($0) }
        guard before != finding else { return [] }
        pthread_setspecific(key, finding)
        defer { pthread_setspecific(key, before) }
        return body()
    }

    func remove() {
        pthread_setspecific(Self.key, nil)
    }
}
