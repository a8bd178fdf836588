public import HTTPTransport

// The values in a body, read while it arrives. Declared calls can return EventStream and ElementStream directly.
extension ResponseBody {
    /// The lines of the body: see ``BodyLines``. A line has at most 16 MiB.
    public var lines: BodyLines { lines(limit: StreamLimits.element) }

    /// The lines of the body.
    ///
    /// - Parameter limit: The maximum number of bytes of a line.
    public func lines(limit: Int) -> BodyLines { BodyLines(self, limit: limit) }

    /// The events of the body (Server-Sent Events), regardless of its media type. An event's data has at most 16 MiB.
    public var events: EventStream<ServerEvent> { events() }

    /// The events of the body (Server-Sent Events), regardless of its media type.
    ///
    /// - Parameters:
    ///   - end: The event that ends the stream; `nil` for the end of the body.
    ///   - limit: The maximum number of bytes of an event's data.
    public func events(endingAt end: StreamEnd? = nil, limit: Int = StreamLimits.element) -> EventStream<ServerEvent> {
        EventStream(.init(body: self, rules: EventRules(limit: limit, end: end), decode: { $0 }))
    }

    /// The elements of the body.
    ///
    /// - Parameters:
    ///   - type: The type of the elements, which are decoded by a ``JSONReader``.
    ///   - framing: How the body is divided: ``StreamFraming/jsonLines``, ``StreamFraming/jsonSequence`` or
    ///     ``StreamFraming/jsonArray``; the parts of a multipart body are read with ``parts(contentType:fieldLimit:)``.
    ///   - path: The wire names that lead to the array, or to the value inside each element.
    ///   - reader: Reads the elements.
    ///   - limit: The maximum number of bytes of an element.
    /// - Throws: ``StreamError`` for another framing.
    public func elements<Element: Decodable & Sendable>(
        of type: Element.Type = Element.self, as framing: StreamFraming, at path: [String] = [], with reader: JSONReader = JSONReader(),
        limit: Int = StreamLimits.element
    ) throws -> ElementStream<Element> {
        guard framing != .events, framing != .parts else {
            let other = framing == .events ? "events" : "parts(contentType:)"
            throw StreamError(.format, "The framing \(framing) isn't one of JSON elements: read the body with \(other).")
        }
        let plan = ElementPlan<Element>(framing: framing, boundary: "", path: path, reader: reader, limit: limit) {
            try reader.decode(type, from: $0.bytes, at: path)
        }
        return ElementStream(.init(body: self, parser: { plan.parser() }))
    }

    /// The parts of the body, if it is multipart: see ``BodyParts``.
    ///
    /// - Parameters:
    ///   - contentType: The response's `Content-Type`, which has the boundary.
    ///   - fieldLimit: The maximum number of bytes of a part's fields.
    /// - Throws: ``StreamError`` if the type isn't multipart, or its boundary is missing or too long.
    public func parts(contentType: String, fieldLimit: Int = StreamLimits.partFields) throws -> BodyParts {
        guard let type = MediaType(contentType) else {
            throw StreamError(.format, "“\(VisibleText.of(contentType))” isn't a media type: pass the response's Content-Type.")
        }
        return BodyParts(self, boundary: try type.multipartBoundary(), fieldLimit: fieldLimit)
    }
}

/// The default limits of streams.
public enum StreamLimits {
    /// The maximum number of bytes of a line, an event's data or an element: 16 MiB. In declared calls, the endpoint's body limit applies
    /// instead.
    public static let element = 16 << 20
    /// The maximum number of bytes of a part's fields: 64 KiB.
    public static let partFields = 64 << 10
}

/// How the elements of a body are read.
struct ElementPlan<Element: Decodable & Sendable>: Sendable {
    let framing: StreamFraming
    /// The boundary of a multipart body.
    let boundary: String
    /// The wire names that lead to the array.
    let path: [String]
    /// Reads the elements of an array.
    let reader: JSONReader
    let limit: Int
    /// Decodes a record.
    let decode: @Sendable (StreamRecord) throws -> Element

    func parser() -> any ElementParser<Element> {
        switch framing {
        case .jsonArray: ArrayElements(reader, at: path, limit: limit)
        case .jsonSequence: RecordElements(records: SequenceRecords(limit: limit), decode: decode)
        case .parts: RecordElements(records: PartRecords(boundary: boundary, limit: limit), decode: decode)
        // Events have their own stream.
        case .jsonLines, .events: RecordElements(records: LineRecords(limit: limit), decode: decode)
        }
    }
}
