public import Foundation
public import WebServiceClient

/// How records are written for a receiver, and what its answers mean.
///
/// A conforming type
/// * writes the same records into the same bytes each time: a request whose fate is unknown is sent again, and must be the same;
/// * writes no body without records;
/// * judges answers by the receiver's own rules. ``ReceiverAnswer`` has some that many receivers share.
public protocol LogFormat: Sendable {
    /// The media type of the bodies.
    var contentType: String { get }

    /// The most bytes that a body may have before it is compressed. A batch above is split; a single record above is dropped, and counted.
    var maximumBodyBytes: Int { get }

    /// Writes records, of which there is at least one, into a body.
    ///
    /// - Throws: what keeps a record from being written. The batch is split then, to lose that record only.
    func encode(_ records: [LogRecord]) throws -> Data

    /// What the receiver's answer means for a batch.
    func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict
}

/// What a receiver answered.
public struct ReceiverAnswer: Sendable {
    /// The most bytes of a body that are read: 4 MiB.
    public static let bodyLimit = 4 << 20

    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The body; empty when it was larger than ``bodyLimit`` or broke off.
    public let body: Data
    /// The number of records that were sent.
    public let records: Int

    /// An answer.
    public init(status: Int, headers: HTTPFields = [:], body: Data = Data(), records: Int) {
        self.status = status
        self.headers = headers
        self.body = body
        self.records = records
    }

    /// Whether the receiver wants other credentials, or is somewhere else: the records are fine, the settings aren't. Redirects count,
    /// since credentials don't follow them.
    public var asksForOtherSettings: Bool {
        status == 401 || status == 403 || status == 407 || (300..<400).contains(status)
    }

    /// The beginning of the body on one line, for messages.
    public var excerpt: String {
        String(decoding: body.prefix(200), as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

/// What becomes of a batch after an answer.
public enum DeliveryVerdict: Sendable, Hashable {
    /// The receiver has all records. It may have had a remark.
    case delivered(remark: String? = nil)
    /// The receiver has the batch but for some records, which it won't take; nothing is sent again.
    case partiallyRejected(records: Int, reason: String)
    /// The receiver can't take it now: the same bytes are sent again after a while, or when its `Retry-After` says.
    case retry
    /// The batch is too large: each half is sent by itself, down to a single record, which is dropped.
    case split
    /// The settings are wrong: nothing is dropped, and nothing sent for some minutes.
    case pause(reason: String)
    /// The receiver won't take it: the batch is dropped.
    case reject(reason: String)
}
