import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Wakes every waiting thread of a server: a pipe that all of them poll, and whose writing end is closed to stop.
final class StopSignal: Sendable {
    private struct Ends {
        var reading: Int32
        var writing: Int32
    }

    private let ends: Locked<Ends>
    /// The end to poll. It stays ready for all threads after the signal is raised.
    let descriptor: Int32

    init() throws(TestingFailure) {
        var pair: [Int32] = [-1, -1]
        guard pipe(&pair) == 0 else { throw LoopbackSocket.failure("make a pipe") }
        for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        descriptor = pair[0]
        ends = Locked(Ends(reading: pair[0], writing: pair[1]))
    }

    deinit {
        raise()
        release()
    }

    var isRaised: Bool { ends.withLock { $0.writing < 0 } }

    func raise() {
        ends.withLock { ends in
            if ends.writing >= 0 { close(ends.writing) }
            ends.writing = -1
        }
    }

    /// Waits for a number of milliseconds, or until the signal is raised.
    func wait(milliseconds: Int32) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, milliseconds)
    }

    /// Closes the reading end, once no thread polls it any more.
    func release() {
        ends.withLock { ends in
            if ends.reading >= 0 { close(ends.reading) }
            ends.reading = -1
        }
    }
}
