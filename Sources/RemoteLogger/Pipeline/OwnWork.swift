import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tells the logger's own work from the program's, so that it never logs itself.
///
/// There are two marks, since one alone is lost when work changes threads: the task that ships carries ``isShipping``, which its
/// child tasks inherit; and the requests that it sends carry ``identity``, which ``CallLogger`` leaves alone on any thread.
enum OwnWork {
    /// Whether this task ships records.
    @TaskLocal static var isShipping = false

    /// The call that the logger's own requests belong to.
    static let identity = CallIdentity(client: "RemoteLogger", key: "ship", route: "")
}

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
