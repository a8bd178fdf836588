#if canImport(Glibc)
import Glibc
import TestSupport
import Testing

@testable import RemoteLogger

@Suite struct MemoryAheadTests {
    /// The number of minor page faults of this thread so far.
    private static var faults: Int {
        var usage = rusage()
        // RUSAGE_THREAD, which the module doesn't export.
        getrusage(__rusage_who_t(1), &usage)
        return usage.ru_minflt
    }

    @Test func `what was provided is there without page faults`() async {
        // Runs in a new process on a new thread with an unused heap, because many threads share heaps.
        await ExitTesting.alone {
            await #expect(processExitsWith: .exitCode(0), "it is twenty pages") {
                ExitTesting.endLater()
                let faults = try await onOwnThread {
                    MemoryAhead.provide(90 << 10)
                    var blocks: [UnsafeMutableRawPointer] = []
                    blocks.reserveCapacity(200)
                    let before = Self.faults
                    for _ in 0..<200 {
                        guard let block = malloc(400) else { continue }
                        memset(block, 1, 400)
                        blocks.append(block)
                    }
                    let found = Self.faults - before
                    blocks.forEach { free($0) }
                    return found
                }
                exit(faults <= 5 ? 0 : Int32(clamping: faults))
            }
        }
    }

    @Test(arguments: [.min, -1, 0, 1, 4_096, 1 << 20, .max]) func `any number of bytes may be asked for`(bytes: Int) {
        MemoryAhead.provide(bytes)
    }
}
#endif
