package import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Marks the threads and queues on which transports serve all of their exchanges. A closure that a transport calls there, such as one for
/// progress, must not wait for an exchange.
package enum TransportThread {
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    private static let queueKey = DispatchSpecificKey<Bool>()

    /// Marks the current thread, until it ends.
    package static func mark() {
        // Any value other than nil.
        if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
    }

    /// Marks a queue.
    package static func mark(_ queue: DispatchQueue) {
        queue.setSpecific(key: queueKey, value: true)
    }

    /// Whether the current code runs on a marked thread or queue.
    package static var isCurrent: Bool {
        if let key, pthread_getspecific(key) != nil { return true }
        return DispatchQueue.getSpecific(key: queueKey) == true
    }
}
