public import Foundation
public import HTTPTransport

/// A receiver's answer.
public struct ReceiverAnswer: Sendable {
    /// The maximum number of bytes of a body that are read: 4 MiB.
    public static let bodyLimit = 4 << 20

    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The body; empty if it was larger than ``bodyLimit`` or ended early, as ``bodyFault`` reports.
    public let body: Data
    /// The reason that the body is missing; `nil` if it is complete.
    public let bodyFault: BodyFault?
    /// The number of records that were sent.
    public let records: Int

    /// Creates an answer.
    public init(status: Int, headers: HTTPFields = [:], body: Data = Data(), bodyFault: BodyFault? = nil, records: Int) {
        self.status = status
        self.headers = headers
        self.body = body
        self.bodyFault = bodyFault
        self.records = records
    }

    /// The reason that a body is missing. A format that can't judge without the body returns ``DeliveryVerdict/retry``, so that the same
    /// bytes are sent again.
    public enum BodyFault: Sendable, Hashable {
        /// The body has more bytes than ``ReceiverAnswer/bodyLimit``.
        case tooLarge
        /// The connection ended within the body, or decoding failed: its content is unknown.
        case brokeOff
    }

    /// Describes a body that is ``BodyFault/tooLarge``.
    static let tooLargeText = "its answer is larger than \(bodyLimit >> 20) MiB"

    /// A remark on an answer whose body is missing although its status determines the outcome; `nil` with a body.
    var faultRemark: String? {
        switch bodyFault {
        case .tooLarge: "\(Self.tooLargeText) and was not read"
        case .brokeOff: "its answer of status \(status) broke off"
        case nil: nil
        }
    }

    /// Whether the status concerns the address, the credentials or the form of the request rather than its records: the settings are wrong,
    /// or the receiver isn't ready yet. This is true for every 3xx, since credentials don't follow redirects, 501, 505, and every 4xx
    /// except 400, 408, 413, 422, 425 and 429.
    public var asksForOtherSettings: Bool {
        switch status {
        case 400, 408, 413, 422, 425, 429: false
        case 300..<500, 501, 505: true
        default: false
        }
    }

    /// Whether a web server in front of the receiver refuses the connection itself, with a 400 whose text is the only sign: it expects TLS,
    /// a client certificate, another host or shorter header fields.
    var isAboutConnection: Bool {
        // A receiver's JSON may quote a record; web servers answer with a page or a line of text.
        guard status == 400, let first = body.first(where: { $0 > 0x20 }), first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else {
            return false
        }
        let text = String(decoding: body.prefix(4_096), as: UTF8.self)
        return Self.ofConnection.contains(where: text.contains)
    }

    /// Texts of nginx, Go's servers, Apache, Tomcat and IIS.
    private static let ofConnection = [
        "plain HTTP request was sent to HTTPS port", "Client sent an HTTP request to an HTTPS server",
        "speaking plain HTTP to an SSL-enabled", "combination of host and port requires TLS", "No required SSL certificate was sent",
        "The SSL certificate error", "Request Header Or Cookie Too Large", "Invalid Hostname",
    ]

    /// Whether a success has a web page, by its `Content-Type` and its beginning: a proxy or a portal that asks users to sign in has
    /// answered, and no receiver has the records.
    var isWebPage: Bool {
        guard (200..<300).contains(status), headers[.contentType].flatMap({ MediaType($0) })?.isHTML == true else { return false }
        let beginning = String(decoding: body.prefix(1_024), as: UTF8.self).lowercased()
        return beginning.first { !$0.isWhitespace && $0 != "\u{FEFF}" } == "<"
            && (beginning.contains("<html") || beginning.contains("<!doctype html"))
    }

    /// The beginning of the body on one line, for messages, with likely secrets masked: receivers echo their input.
    public var excerpt: String {
        let read = body.prefix(2 * BodyExcerpt.margin)
        return Self.excerpt(of: String(decoding: read, as: UTF8.self), characters: 200, isCut: read.count < body.count)
    }

    /// The beginning of a text of the body, in the form of ``excerpt``. The text may be as long as the body, and messages repeat it for
    /// each record.
    static func excerpt(of text: String) -> String {
        let read = FlatMetadata.prefix(of: text, bytes: 2 * BodyExcerpt.margin)
        return excerpt(of: String(read), characters: 200, isCut: read.endIndex < text.endIndex)
    }

    /// Masks before cutting: half a secret, or one without its line breaks, isn't recognized.
    ///
    /// - Parameter isCut: Whether the text continues.
    static func excerpt(of text: String, characters: Int, isCut: Bool = false) -> String {
        let masked = LogRedaction.standard.masked(text)
        let shown = BodyExcerpt.beginning(of: masked, bytes: .max, isCut: isCut)
        return VisibleText.of(shown.prefix(characters).split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// The meaning of a status for most receivers: 2xx is delivered, but pauses with a web page (`text/html`); 408, 425, 429 and every 5xx
    /// except 501 and 505 is retried; 413 splits; 400 and 422 isolate the rejected record; everything else pauses
    /// (``asksForOtherSettings``).
    public var usualVerdict: DeliveryVerdict {
        switch status {
        case 200..<300: isWebPage ? .pause(reason: "it answers with a web page: \(excerpt)") : .delivered()
        case 413: .split
        case 400, 422: .isolate(reason: excerpt)
        case _ where asksForOtherSettings: .pause(reason: excerpt)
        case 408, 425, 429, 500..<600: .retry
        // This isn't an HTTP status: something other than the receiver has answered.
        default: .pause(reason: excerpt)
        }
    }
}
