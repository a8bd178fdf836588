import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A socket of a stream, by its number, which belongs to somebody else.
struct StreamSocket: Sendable {
    /// What is waited for. The other side's end counts, and so does an end that is made here.
    struct Events: OptionSet, Sendable {
        let rawValue: Int32

        static let reading = Events(rawValue: Int32(POLLIN))
        static let writing = Events(rawValue: Int32(POLLOUT))
    }

    let file: Int32

    /// Waits for an event, or until the time is over.
    ///
    /// - Returns: whether there was one.
    @discardableResult func wait(for events: Events, upTo duration: Duration) throws(ConnectionFault) -> Bool {
        var query = pollfd(fd: file, events: Int16(events.rawValue), revents: 0)
        let count = poll(&query, 1, Int32(clamping: duration.wholeNanoseconds / 1_000_000 + 1))
        if count < 0, errno != EINTR { throw .last("poll") }
        return count > 0
    }

    /// Waits until the other side takes more.
    func waitToWrite(or other: Events = [], until end: ContinuousClock.Instant) throws(ConnectionFault) {
        while true {
            let left = end - .now
            guard left > .zero else { throw ConnectionFault(message: "the receiver didn't take anything in time") }
            if try wait(for: [.writing, other], upTo: left) { return }
        }
    }

    /// How many bytes the other side hasn't confirmed; `nil` where the system doesn't tell.
    var unconfirmed: Int32? {
        var count: Int32 = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(file, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : nil
        #else
        return ioctl(file, UInt(TIOCOUTQ), &count) == 0 ? count : nil
        #endif
    }
}
