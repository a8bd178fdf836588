/// How a body is divided into elements.
public enum StreamFraming: String, Sendable, Hashable, Codable, CaseIterable {
    /// Server-Sent Events (WHATWG HTML §9.2): `text/event-stream`.
    case events
    /// A JSON value per line: NDJSON and JSON Lines, `application/x-ndjson`, `application/jsonl`.
    case jsonLines
    /// A JSON text sequence (RFC 7464): `application/json-seq`.
    case jsonSequence
    /// An array in a JSON text: `application/json`.
    case jsonArray
    /// The parts of a multipart body (RFC 2046 §5.1): `multipart/mixed`.
    case parts

    /// The framing of a media type; `nil` if it isn't a stream.
    init?(_ type: MediaType) {
        switch type.essence {
        case "text/event-stream":
            self = .events
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/jsonlines",
            "application/x-jsonlines", "application/json-lines", "application/x-json-stream", "application/stream+json":
            self = .jsonLines
        case "application/json", "text/json", "application/x-json":
            self = .jsonArray
        default:
            if type.type == "multipart" {
                self = .parts
            } else if type.subtype == "json-seq" || type.suffix == "json-seq" {
                self = .jsonSequence
            } else if type.suffix == "json" {
                self = .jsonArray
            } else {
                return nil
            }
        }
    }

    /// The framing of a body.
    ///
    /// - Parameters:
    ///   - declared: The framing that the endpoint declares, which overrides the body's type.
    ///   - isEvents: Whether events are expected, rather than elements.
    /// - Throws: ``StreamError`` if the body isn't such a stream.
    static func of(_ contentType: String?, declared: StreamFraming?, isEvents: Bool) throws -> StreamFraming {
        let found = declared ?? contentType.flatMap { MediaType($0) }.flatMap { StreamFraming($0) }
        if let found, (found == .events) == isEvents { return found }
        let needed = isEvents ? StreamFraming.events.accepted : "a stream of elements (\(StreamFraming.elementTypes))"
        let fix =
            switch (found, isEvents) {
            case (.events, false): "return EventStream instead of ElementStream"
            case (.some, true) where declared != nil: "declare .framing(.events), or return ElementStream"
            default: "check the call, or declare .framing(…) if the body's format differs from its Content-Type"
            }
        let came = contentType.map { "with the type “\(VisibleText.of($0))”" } ?? "without a Content-Type"
        throw StreamError(.format, "The body arrived \(came), but \(needed) is expected: \(fix).")
    }

    /// The types that a request for the framing accepts.
    var accepted: String {
        switch self {
        case .events: "text/event-stream"
        case .jsonLines: "application/x-ndjson, application/jsonl"
        case .jsonSequence: "application/json-seq"
        case .jsonArray: "application/json"
        case .parts: "multipart/mixed"
        }
    }

    /// The types that a request for elements accepts.
    static let elementTypes = "application/x-ndjson, application/jsonl, application/json-seq, application/json, multipart/mixed"
}
