import CSystemLibraries
import Foundation
import TestSupport
import Testing

#if os(Linux) && compiler(>=6.2)
/// Descriptors that child processes don't inherit. Each test runs in a separate process, because transports of other suites mark
/// descriptors, too.
struct SystemDescriptorsTests {
    /// A pair of sockets that child processes inherit, as libcurl creates them.
    private final class Pair {
        let ends: [Int32]

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            self.ends = ends
        }

        deinit {
            for end in ends { close(end) }
        }
    }

    private static func isInherited(_ number: Int32) -> Bool {
        let flags = fcntl(number, F_GETFD)
        #expect(flags >= 0, "\(number) is closed")
        return flags & FD_CLOEXEC == 0
    }

    @Test func `a single descriptor is marked`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let pair = try Pair()
                csl_close_in_children(pair.ends[0])
                #expect(!Self.isInherited(pair.ends[0]) && Self.isInherited(pair.ends[1]))
                for number in [-1, 4_000, .max] as [Int32] { csl_close_in_children(number) }
            }
        }
    }

    @Test func `pairs that are new are marked, and no files`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let earlier = try Pair()
                let before = UnsafeMutablePointer<csl_open_descriptors>.allocate(capacity: 1)
                defer { before.deallocate() }
                csl_record_open_descriptors(before)
                let pair = try Pair()
                let file = open("/dev/null", O_RDONLY)
                csl_close_new_in_children(before)
                #expect(!pair.ends.contains(where: Self.isInherited))
                #expect(Self.isInherited(file))
                #expect(earlier.ends.allSatisfy(Self.isInherited))
            }
        }
    }
}
#endif
