#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Marks the current thread while a record is masked and written to sinks, to detect log calls from there.
struct SinkMark {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Arbitrary distinct addresses; they are never dereferenced.
    private static var set: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 1) }
    private static var finding: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 2) }

    /// Marks the thread; `nil` if it is already marked.
    init?() {
        guard pthread_getspecific(Self.key) == nil else { return nil }
        pthread_setspecific(Self.key, Self.set)
    }

    /// Runs a masking rule of the program. Its log calls make no records, and masking from within the rule skips the program's rules, which
    /// would otherwise recurse infinitely.
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
