public import Foundation

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
