public import Foundation
public import WebServiceClient

/// What a receiver answered.
public struct ReceiverAnswer: Sendable {
    /// The most bytes of a body that are read: 4 MiB.
    public static let bodyLimit = 4 << 20

    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The body; empty when it was larger than ``bodyLimit`` or broke off, of which ``bodyFault`` tells.
    public let body: Data
    /// Why there is no body; `nil` when it has come whole.
    public let bodyFault: BodyFault?
    /// The number of records that were sent.
    public let records: Int

    /// An answer.
    public init(status: Int, headers: HTTPFields = [:], body: Data = Data(), bodyFault: BodyFault? = nil, records: Int) {
        self.status = status
        self.headers = headers
        self.body = body
        self.bodyFault = bodyFault
        self.records = records
    }

    /// Why a body isn't there. A format that can't judge without one asks for the same bytes to be sent again (``DeliveryVerdict/retry``).
    public enum BodyFault: Sendable, Hashable {
        /// It has more bytes than ``ReceiverAnswer/bodyLimit``.
        case tooLarge
        /// The connection ended within it, or it couldn't be decoded: nobody knows what it would have said.
        case brokeOff
    }

    /// Tells of a body that is ``BodyFault/tooLarge``.
    static let tooLargeText = "its answer is larger than \(bodyLimit >> 20) MiB"

    /// What is worth knowing of an answer whose body isn't there, although the status says what became of the records; `nil` with a body.
    var faultRemark: String? {
        switch bodyFault {
        case .tooLarge: "\(Self.tooLargeText) and was not read"
        case .brokeOff: "its answer of status \(status) broke off"
        case nil: nil
        }
    }

    /// Whether the status speaks of the address, the credentials or the form of the request, and not of the records in it: the records are fine,
    /// the settings aren't, or the receiver isn't there yet. That is every 3xx, since credentials don't follow redirects, 501, 505, and every 4xx but
    /// 400, 408, 413, 422, 425 and 429.
    public var asksForOtherSettings: Bool {
        switch status {
        case 400, 408, 413, 422, 425, 429: false
        case 300..<500, 501, 505: true
        default: false
        }
    }

    /// The beginning of the body on one line, for messages, with what looks like a secret masked: receivers repeat what they were sent.
    public var excerpt: String {
        let read = body.prefix(2 * BodyExcerpt.margin)
        return Self.excerpt(of: String(decoding: read, as: UTF8.self), characters: 200, isCut: read.count < body.count)
    }

    /// The masks come first: half a secret, or one without its line breaks, isn't known for one.
    ///
    /// - Parameter isCut: whether the text goes on.
    static func excerpt(of text: String, characters: Int, isCut: Bool = false) -> String {
        let masked = LogRedaction.standard.masked(text)
        let shown = BodyExcerpt.beginning(of: masked, bytes: .max, isCut: isCut)
        return VisibleText.of(shown.prefix(characters).split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// What most receivers mean by a status: 2xx is delivered; 408, 425, 429 and every 5xx but 501 and 505 is tried again; 413 splits; 400 and 422
    /// look for the record in question; everything else pauses (``asksForOtherSettings``).
    public var usualVerdict: DeliveryVerdict {
        switch status {
        case 200..<300: .delivered()
        case 413: .split
        case 400, 422: .isolate(reason: excerpt)
        case _ where asksForOtherSettings: .pause(reason: excerpt)
        case 408, 425, 429, 500..<600: .retry
        // No status of HTTP: somebody else has answered.
        default: .pause(reason: excerpt)
        }
    }
}
