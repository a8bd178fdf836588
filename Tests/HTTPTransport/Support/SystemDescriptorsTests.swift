import CSystemLibraries
import Foundation
import TestSupport
import Testing

#if os(Linux) && compiler(>=6.2)
/// Tests descriptors that libcurl opens as inheritable. They run in separate processes, because the transports of other suites mark
/// descriptors too.
struct SystemDescriptorsTests {
    /// A pair of inheritable sockets, as libcurl creates them, with configurable numbers. They are closed with the pair.
    private final class Pair {
        let one: Int32
        private(set) var other: Int32

        init(one: Int32 = 0, other: Int32 = 0) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            self.one = try Self.moved(ends[0], from: one)
            self.other = try Self.moved(ends[1], from: other)
        }

        deinit {
            close(one)
            closeOther()
        }

        func closeOther() {
            guard other >= 0 else { return }
            close(other)
            other = -1
        }

        /// Moves a socket to the lowest free number from a given one on.
        private static func moved(_ end: Int32, from number: Int32) throws -> Int32 {
            guard number > 0 else { return end }
            let moved = fcntl(end, F_DUPFD, number)
            try #require(moved >= number)
            close(end)
            return moved
        }
    }

    private static func isInherited(_ number: Int32) -> Bool {
        let flags = fcntl(number, F_GETFD)
        #expect(flags >= 0, "\(number) is closed")
        return flags & FD_CLOEXEC == 0
    }

    private static func read(_ number: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test func `both ends of a pair are found, whatever numbers they have`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                for (one, other) in [(0, 0), (300, 0), (0, 300), (400, 700), (700, 400)] as [(Int32, Int32)] {
                    let before = try (0..<40).map { _ in try Pair() }
                    let pair = try Pair(one: one, other: other)
                    let strangers = try before + (0..<40).map { _ in try Pair() }
                    // Data sent by other sockets must be kept.
                    for stranger in strangers { try #require(send(stranger.one, "for another one", 15, 0) == 15) }
                    #expect(Self.isInherited(pair.one) && Self.isInherited(pair.other))
                    #expect(csl_keep_socket_pair(pair.one))
                    #expect(!Self.isInherited(pair.one) && !Self.isInherited(pair.other))
                    // The sockets of others stay inheritable, and no descriptor is leaked in this process.
                    for stranger in strangers {
                        #expect(Self.isInherited(stranger.one) && Self.isInherited(stranger.other))
                        #expect(Self.read(stranger.other) == "for another one")
                    }
                    try #require(send(pair.other, "awake", 5, 0) == 5)
                    #expect(Self.read(pair.one) == "awake")
                    #expect(Self.read(pair.other).isEmpty)
                }
            }
        }
    }

    @Test func `an end whose other one is closed is marked`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let pair = try Pair()
                pair.closeOther()
                #expect(!csl_keep_socket_pair(pair.one))
                #expect(!Self.isInherited(pair.one))
            }
        }
    }

    @Test func `an error that waits for another's owner stays there`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let (broken, pair) = (try Pair(), try Pair(one: 300, other: 700))
                try #require(send(broken.one, "unread", 6, 0) == 6)
                broken.closeOther()
                #expect(csl_keep_socket_pair(pair.one))
                var byte: UInt8 = 0
                #expect(recv(broken.one, &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == ECONNRESET)
            }
        }
    }

    @Test func `what is no pair is left as it is`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                for number in [socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), open("/dev/null", O_RDONLY)] {
                    #expect(!csl_keep_socket_pair(number))
                    #expect(Self.isInherited(number))
                }
                for number in [-1, 4_000, .max] as [Int32] { #expect(!csl_keep_socket_pair(number)) }
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
                csl_note_open_descriptors(before)
                let pair = try Pair()
                let file = open("/dev/null", O_RDONLY)
                csl_keep_new_descriptors(before)
                #expect(!Self.isInherited(pair.one) && !Self.isInherited(pair.other))
                #expect(Self.isInherited(file))
                #expect(Self.isInherited(earlier.one) && Self.isInherited(earlier.other))
            }
        }
    }
}
#endif
