public import Foundation

/// A format whose receiver takes a batch first, and says later whether it has stored it.
///
/// Its ``LogFormat/judge(_:)`` gives ``DeliveryVerdict/accepted(ticket:)``. The receiver is asked by the ticket until it says yes; when it
/// hasn't within ``acknowledgementTimeout``, the same bytes are sent again.
public protocol AcknowledgingLogFormat: LogFormat {
    /// How long it is until the receiver is asked, and asked again.
    var acknowledgementInterval: Duration { get }
    /// How long it is asked.
    var acknowledgementTimeout: Duration { get }
    /// Where and how the receiver is asked, with POST. The header fields of the settings are added.
    ///
    /// - Parameter endpoint: the URL that takes the records.
    func acknowledgementQuery(for ticket: String, endpoint: URL) -> AcknowledgementQuery
    /// Whether the receiver has stored the batch of a ticket.
    func acknowledges(_ ticket: String, _ answer: ReceiverAnswer) -> Bool
}
