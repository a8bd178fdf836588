#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The nanoseconds that the thread works on something, whatever else the machine has to do meanwhile.
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
