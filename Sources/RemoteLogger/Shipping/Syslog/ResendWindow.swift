import Foundation

/// The recently sent messages that may be lost with their connection, in order.
///
/// A message is removed when its connection has survived for the length of the window after the message was sent. While there is no
/// connection, no message is removed, however long that is, because messages sent shortly before the break may be lost. A message is also
/// removed after it was sent again on several connections that all broke, because some receivers soon close every connection.
struct ResendWindow: Sendable {
    private struct Entry: Sendable {
        var sent: UInt64
        /// The used part of ``patience``.
        var impatience = 0
        let body: Data
    }

    /// The number of resends after which a message is removed; a resend without other messages to send counts as four.
    static let patience = 20

    private var entries: [Entry] = []
    /// The length of the window in nanoseconds.
    private let length: UInt64
    private let maximumBytes: Int

    init(length: Duration, maximumBytes: Int) {
        self.length = length.wholeNanoseconds
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { entries.isEmpty }

    var bodies: [Data] { entries.map(\.body) }

    /// Returns the time until the oldest message may be removed; `nil` if there is none.
    func timeLeft(at now: UInt64) -> Duration? {
        entries.first.map { .nanoseconds(Int64(clamping: length - min(length, now &- $0.sent))) }
    }

    /// Adds a sent message.
    mutating func append(_ body: Data, at now: UInt64) {
        guard length > 0 else { return }
        entries.append(Entry(sent: now, body: body))
        var bytes = entries.reduce(0) { $0 + $1.body.count }
        while bytes > maximumBytes, let first = entries.first {
            bytes -= first.body.count
            entries.removeFirst()
        }
    }

    /// Notes that all messages were sent again on another connection.
    ///
    /// - Parameter isQuiet: Whether that was the only reason for the connection.
    mutating func renew(at now: UInt64, isQuiet: Bool) {
        for index in entries.indices {
            entries[index].sent = now
            entries[index].impatience += isQuiet ? 4 : 1
        }
        entries.removeAll { $0.impatience >= Self.patience }
    }

    /// Notes that the connection is alive.
    mutating func noteLife(at now: UInt64) {
        entries.removeAll { now &- $0.sent >= length }
    }
}
