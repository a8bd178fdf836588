import Foundation

/// A connection that syslog messages are written to, on a thread that may wait. Any thread may close it, which ends such a wait.
protocol SyslogConnection: Sendable {
    /// Its file, for waiting.
    var stream: StreamSocket { get }
    /// How long the other side may take nothing. One that is slow isn't given up: all that it hasn't read would be sent again on another
    /// connection, and again.
    var timeout: Duration { get }
    /// Whether the other side hasn't closed the connection. What it sends is read and forgotten.
    ///
    /// - Throws: why it can't be used, where the other side has said so.
    func isAlive() throws(ConnectionFault) -> Bool

    /// Makes the connection, once, before all else.
    func open() throws(ConnectionFault)
    /// Writes all bytes.
    func write(_ data: Data) throws(ConnectionFault)
    func close()
}

extension SyslogConnection {
    /// Waits until the other side's system has confirmed everything that was written.
    func drain() throws(ConnectionFault) {
        var end = ContinuousClock.now + timeout
        var last = Int32.max
        var pause = Duration.milliseconds(1)
        while true {
            guard try isAlive() else { throw ConnectionFault(message: "the receiver has closed the connection") }
            guard let left = stream.unconfirmed, left > 0 else { return }
            if left < last { end = .now + timeout }
            last = left
            guard .now < end else { throw ConnectionFault(message: "the receiver didn't confirm in time") }
            // No event tells of a confirmation, hence it is looked again and again. What the other side sends, its end, or ours, wakes at once.
            try stream.wait(for: .reading, upTo: pause)
            pause = min(pause * 2, .milliseconds(20))
        }
    }
}
