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
