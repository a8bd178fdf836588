#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Returns the CPU time of the thread for a closure in nanoseconds, which doesn't depend on the load of the machine.
package func threadWork(_ body: () throws -> Void) rethrows -> UInt64 {
    func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
}
