import Foundation

/// What was sent lately and may be lost with its connection, in order.
///
/// A message leaves when the connection has lived for a while since it was sent. While there is no connection nothing leaves, however long that
/// is: what was sent shortly before the break may be lost. Nor does one stay that was sent again on several connections, each of which broke: there
/// are receivers that end every connection soon.
struct ResendWindow: Sendable {
    private struct Entry: Sendable {
        var sent: UInt64
        /// How much of ``patience`` was used up for it.
        var impatience = 0
        let body: Data
    }

    /// A message leaves when it was sent again so often, or a quarter as often where nothing more was to be sent.
    static let patience = 20

    private var entries: [Entry] = []
    /// In nanoseconds.
    private let length: UInt64
    private let maximumBytes: Int

    init(length: Duration, maximumBytes: Int) {
        self.length = length.wholeNanoseconds
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { entries.isEmpty }

    var bodies: [Data] { entries.map(\.body) }

    /// How long it is until the oldest may leave; `nil` without one.
    func timeLeft(at now: UInt64) -> Duration? {
        entries.first.map { .nanoseconds(Int64(clamping: length - min(length, now &- $0.sent))) }
    }

    /// Something was sent.
    mutating func append(_ body: Data, at now: UInt64) {
        guard length > 0 else { return }
        entries.append(Entry(sent: now, body: body))
        var bytes = entries.reduce(0) { $0 + $1.body.count }
        while bytes > maximumBytes, let first = entries.first {
            bytes -= first.body.count
            entries.removeFirst()
        }
    }

    /// All of it was sent once more, on another connection.
    ///
    /// - Parameter isQuiet: whether that was the only reason for the connection.
    mutating func renew(at now: UInt64, isQuiet: Bool) {
        for index in entries.indices {
            entries[index].sent = now
            entries[index].impatience += isQuiet ? 4 : 1
        }
        entries.removeAll { $0.impatience >= Self.patience }
    }

    /// The connection lives.
    mutating func noteLife(at now: UInt64) {
        entries.removeAll { now &- $0.sent >= length }
    }
}
