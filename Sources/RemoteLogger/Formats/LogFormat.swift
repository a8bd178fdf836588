public import Foundation
public import WebServiceClient

/// How records are written for a receiver, and what its answers mean.
///
/// A conforming type
/// * writes the same records into the same bytes each time: a request whose fate is unknown is sent again, and must be the same;
/// * writes no body without records;
/// * judges answers by the receiver's own rules. ``ReceiverAnswer`` has some that many receivers share.
///
/// Only ``contentType``, ``maximumBodyBytes``, ``encode(_:)`` and ``judge(_:)`` have to be there.
public protocol LogFormat: Sendable {
    /// The media type of the bodies.
    var contentType: String { get }

    /// The most bytes that a body may have before it is compressed. A batch above is split; a single record above is dropped, and counted.
    var maximumBodyBytes: Int { get }

    /// The most records that a body may have. Any number unless said.
    var maximumRecords: Int { get }

    /// How old a record may be that the receiver takes. An older one isn't sent but dropped, counted as ``DropReason/expired``, and put into
    /// the dead-letter file. The age is told by the receiver's own clock, of which the `Date` of its answers tells, and for records of this run by
    /// the monotonic one, too: neither a step of the clock here nor a wrong one drops what is fresh, nor is anything dropped before the first
    /// answer. No limit unless said.
    var maximumAge: Duration? { get }

    /// Header fields that belong to the format. Those of the settings win. None unless said.
    var headers: HTTPFields { get }

    /// Writes records, of which there is at least one, into a body.
    ///
    /// - Throws: what keeps a record from being written. The batch is split then, to lose that record only.
    func encode(_ records: [LogRecord]) throws -> Data

    /// What the receiver's answer means for a batch.
    func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict
}

extension LogFormat {
    /// Any number.
    public var maximumRecords: Int { .max }
    /// No limit.
    public var maximumAge: Duration? { nil }
    /// None.
    public var headers: HTTPFields { [:] }
}

/// A format whose receiver takes a batch first, and says later whether it has stored it.
///
/// Its ``LogFormat/judge(_:)`` gives ``DeliveryVerdict/accepted(ticket:)``. The receiver is asked by the ticket until it says yes. When it has said
/// "not yet" for ``acknowledgementTimeout``, the same bytes are sent again, next time after twice that time, and so on. While it can't be asked
/// nothing is sent again: where it refuses to be asked (404, for one), the shipper pauses and asks again later.
public protocol AcknowledgingLogFormat: LogFormat {
    /// How long it is until the receiver is asked, and asked again.
    var acknowledgementInterval: Duration { get }
    /// How long it is asked before a batch is sent again for the first time.
    var acknowledgementTimeout: Duration { get }
    /// Where and how the receiver is asked for the tickets of all batches that wait, with POST. The header fields of the settings are added.
    ///
    /// - Parameter endpoint: the URL that takes the records.
    func acknowledgementQuery(for tickets: [String], endpoint: URL) -> AcknowledgementQuery
    /// The tickets, of those that were asked for, whose batches the receiver has stored.
    func acknowledged(of tickets: [String], _ answer: ReceiverAnswer) -> Set<String>
}

/// A question to a receiver whether it has stored a batch.
public struct AcknowledgementQuery: Sendable, Hashable {
    /// Where.
    public var url: URL
    /// Header fields.
    public var headers: HTTPFields
    /// The body.
    public var body: Data

    /// A question.
    public init(url: URL, headers: HTTPFields = [:], body: Data = Data()) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What becomes of a batch after an answer.
public enum DeliveryVerdict: Sendable, Hashable {
    /// The receiver has all records. It may have had a remark.
    case delivered(remark: String? = nil)
    /// The receiver has taken the batch, and will say later whether it has stored it: it is asked by the ticket, see
    /// ``AcknowledgingLogFormat``.
    case accepted(ticket: String)
    /// The receiver has the batch but for some records, which it won't take; it doesn't say which. Nothing is sent again.
    case partiallyRejected(records: Int, reason: String)
    /// The receiver tells each record's fate, in the order in which they were sent.
    case each([RecordVerdict])
    /// The receiver can't take it now: the same bytes are sent again after a while, or when its `Retry-After` says.
    case retry
    /// The batch is too large: each half is sent by itself, down to a single record, which is dropped. One that is larger than all others together
    /// is sent by itself at once, then those behind it.
    case split
    /// Some record in it can't be taken, and the receiver has stored none of the batch: halves are sent down to the record in question, which is
    /// dropped once it was refused by itself, and the rest in one go. For one bad record of n that is log2(n) + 2 more requests at most. What is still
    /// refused when nothing was taken for as many requests as a few bad records would need is dropped together.
    case isolate(reason: String)
    /// The settings are wrong: nothing is dropped, and nothing sent for some minutes.
    case pause(reason: String)
    /// The receiver won't take it: the batch is dropped.
    case reject(reason: String)
}

/// What becomes of a record of a batch.
public enum RecordVerdict: Sendable, Hashable {
    /// The receiver has it.
    case delivered
    /// The receiver can't take it now: it is sent again after a while, with the others of its batch to which that applies.
    case retry
    /// The settings are wrong for it: it stays, and nothing is sent for some minutes. Then it is sent again, with the others of its batch that stay.
    case pause(reason: String)
    /// The receiver won't take it: it is dropped.
    case rejected(reason: String)
}
