public import Foundation
public import HTTPTransport

/// A format that encodes records for a receiver and interprets its answers.
///
/// A conforming type
/// - encodes the same records into the same bytes each time: a request with an unknown outcome is sent again and must be identical;
/// - never encodes an empty batch;
/// - judges answers by the receiver's own rules. ``ReceiverAnswer`` has some that many receivers share.
///
/// Only ``contentType``, ``maximumBodyBytes``, ``encode(_:)`` and ``judge(_:)`` are required.
public protocol LogFormat: Sendable {
    /// The media type of the bodies.
    var contentType: String { get }

    /// The maximum number of bytes of a body before compression. A larger batch is split; a larger single record is dropped and counted.
    var maximumBodyBytes: Int { get }

    /// The maximum number of records of a body; unlimited by default.
    var maximumRecords: Int { get }

    /// The maximum age of a record that the receiver accepts. Older records aren't sent but dropped, counted as ``DropReason/expired``, and
    /// written to the dead-letter file. The age is measured by the receiver's clock, as given by the `Date` of its answers, and for records
    /// of this run also by the monotonic clock: neither a clock step nor a wrong clock on this machine drops fresh records, and nothing is
    /// dropped before the first answer. Unlimited by default.
    var maximumAge: Duration? { get }

    /// Header fields that the format needs. Fields of the settings take precedence. The default is none.
    var headers: HTTPFields { get }

    /// Encodes records, at least one, into a body.
    ///
    /// - Throws: The error that prevents encoding a record. The batch is then split to lose only that record.
    func encode(_ records: [LogRecord]) throws -> Data

    /// Determines what the receiver's answer means for a batch.
    func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict
}

extension LogFormat {
    /// No limit.
    public var maximumRecords: Int { .max }
    /// No limit.
    public var maximumAge: Duration? { nil }
    /// None.
    public var headers: HTTPFields { [:] }
}

/// A format whose receiver first accepts a batch and later confirms that it is stored.
///
/// Its ``LogFormat/judge(_:)`` returns ``DeliveryVerdict/accepted(ticket:)``. The shipper polls the receiver with the ticket until it
/// confirms. After ``acknowledgementTimeout`` without confirmation the same bytes are sent again, next time after twice that time, and so
/// on. Nothing is sent again while polling fails: if the receiver rejects the query (404, for example), the shipper pauses and polls again
/// later.
public protocol AcknowledgingLogFormat: LogFormat {
    /// The time before the first poll and between polls.
    var acknowledgementInterval: Duration { get }
    /// The time without confirmation after which a batch is sent again for the first time.
    var acknowledgementTimeout: Duration { get }
    /// Returns the request, sent with POST, that queries the tickets of all unconfirmed batches. The header fields of the settings are
    /// added.
    ///
    /// - Parameter endpoint: The URL that accepts the records.
    func acknowledgementQuery(for tickets: [String], endpoint: URL) -> AcknowledgementQuery
    /// Returns those of the queried tickets whose batches the receiver has stored.
    func acknowledged(of tickets: [String], _ answer: ReceiverAnswer) -> Set<String>
}

/// A query that asks a receiver whether it has stored batches.
public struct AcknowledgementQuery: Sendable, Hashable {
    /// The URL.
    public var url: URL
    /// The header fields.
    public var headers: HTTPFields
    /// The body.
    public var body: Data

    /// Creates a query.
    public init(url: URL, headers: HTTPFields = [:], body: Data = Data()) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The outcome of a batch after an answer.
public enum DeliveryVerdict: Sendable, Hashable {
    /// The receiver has all records, and may have added a remark.
    case delivered(remark: String? = nil)
    /// The receiver has accepted the batch and confirms storage later: the shipper polls with the ticket, see ``AcknowledgingLogFormat``.
    case accepted(ticket: String)
    /// The receiver has the batch except for some records, which it rejected without identifying them. Nothing is sent again.
    case partiallyRejected(records: Int, reason: String)
    /// The outcome of each record, in the order of sending.
    case each([RecordVerdict])
    /// The receiver can't accept the batch now: the same bytes are sent again after a backoff, or after its `Retry-After`.
    case retry
    /// The batch is too large: each half is sent separately, down to a single record, which is dropped. A record that is larger than all
    /// others together is first sent alone, then the records after it.
    case split
    /// The receiver rejects some record and has stored none of the batch: halves are sent down to the rejected record, which is dropped
    /// after it was rejected alone, and the rest is sent in one request. One bad record of n costs at most log2(n) + 2 more requests. If
    /// nothing is accepted for as many requests as a few bad records would need, the remaining rejected records are dropped together.
    case isolate(reason: String)
    /// The settings are wrong: nothing is dropped, and sending pauses for some minutes.
    case pause(reason: String)
    /// The receiver rejects the batch: it is dropped.
    case reject(reason: String)
}

/// The outcome of a record in a batch.
public enum RecordVerdict: Sendable, Hashable {
    /// The receiver has the record.
    case delivered
    /// The receiver can't accept the record now: it is sent again after a backoff, with the others of its batch with this outcome.
    case retry
    /// The settings are wrong for the record: it is kept, and sending pauses for some minutes. Then it is sent again, with the other kept
    /// records of its batch.
    case pause(reason: String)
    /// The receiver rejects the record: it is dropped.
    case rejected(reason: String)
}
