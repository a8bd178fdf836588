public import Foundation

/// Datadog's log intake, version 2.
///
///     let format = DatadogFormat(service: "shop", tags: ["env": "production"])
///     let shipper = try LogShipper(to: DatadogFormat.intakeURL(site: "datadoghq.eu"), format: format) {
///         $0.headers["DD-API-KEY"] = key
///     }
///
/// A record becomes an item with `message`, `status`, `timestamp`, `service`, `ddsource`, `ddtags`, `hostname`, `logger.name`,
/// `error.message`, and `dd.trace_id`; its metadata is below `metadata`, its id is `log.record.uid`. Datadog truncates items above 1 MB and
/// rejects items older than 18 hours: those go to the dead-letter file.
///
/// Statuses have their usual meaning: see <doc:Receivers>. After a 429 the next attempt waits as long as its `X-RateLimit-Reset` specifies.
public struct DatadogFormat: LogFormat {
    /// The service.
    public var service: String
    /// The source, by which Datadog chooses how to parse records. The default is `swift`.
    public var source = "swift"
    /// The host; `nil` to omit it.
    public var hostname: String?
    /// The tags, each `name:value`. They are written as Datadog would store them: in lowercase, beginning with a letter, at most 200
    /// characters, and with `_` for everything but letters, digits, `_`, `-`, `.`, `/` and, in values, `:`.
    public var tags: LogMetadata
    /// The maximum number of bytes of a body. The default of 4.5 MB leaves a margin below Datadog's limit of 5 MB.
    public var maximumBodyBytes = 4_500_000
    /// 18 hours by default.
    public var maximumAge: Duration? = .seconds(18 * 3_600)

    /// 1,000.
    public var maximumRecords: Int { 1_000 }
    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Creates a format for a service.
    public init(service: String, tags: LogMetadata = LogMetadata(), hostname: String? = nil) {
        self.service = service
        self.tags = tags
        self.hostname = hostname
    }

    /// The intake URL of a site, such as `datadoghq.com` or `datadoghq.eu`.
    ///
    /// - Throws: ``LogShipperError`` if the text isn't a host name.
    public static func intakeURL(site: String) throws -> URL {
        guard !site.isEmpty, site.utf8.allSatisfy({ $0.isAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }),
            let url = URL(string: "https://http-intake.logs.\(site)/api/v2/logs")
        else { throw LogShipperError(message: "\"\(site.prefix(100))\" isn't a Datadog site: pass one such as datadoghq.com.") }
        return url
    }

    /// An array of items.
    public func encode(_ records: [LogRecord]) throws -> Data {
        let tags = FlatMetadata.pairs(of: tags).map { Self.tag($0.name, FlatMetadata.text(of: $0.value)) }.joined(separator: ",")
        var text = JSONText()
        text.reserve(records.count * 420)
        text.byte("[")
        for record in records {
            text.raw("{\"message\":")
            text.string(record.message)
            text.raw(",\"status\":")
            text.string(record.level == .trace ? "debug" : record.level.description)
            text.raw(",\"timestamp\":")
            text.integer(record.time / 1_000_000)
            text.raw(",\"service\":")
            text.string(service)
            text.raw(",\"ddsource\":")
            text.string(source)
            text.optional(",\"hostname\":", hostname)
            text.optional(",\"ddtags\":", tags.isEmpty ? nil : tags)
            text.optional(",\"logger.name\":", record.label.isEmpty ? nil : record.label)
            text.optional(",\"error.message\":", record.error)
            text.raw(",\"log.record.uid\":\"")
            text.hexadecimal(record.id.high, record.id.low)
            text.raw("\",\"log.record.sequence\":")
            text.integer(record.sequence)
            text.raw(",\"log.record.time\":\"")
            TimestampText.write(nanoseconds: record.time, into: &text)
            text.byte("\"")
            text.optional(",\"dd.trace_id\":", record.trace?.traceID)
            text.optional(",\"dd.span_id\":", record.trace?.span.map { String($0) })
            text.optional(",\"source.file\":", record.source.map { "\($0.file):\($0.line)" })
            if !record.metadata.isEmpty {
                text.raw(",\"metadata\":")
                text.members(record.metadata)
            }
            text.raw("},")
        }
        text.dropComma()
        text.byte("]")
        return text.data
    }

    private static let longestTag = 200

    /// A tag that follows Datadog's rules. A comma would begin another tag, and the first colon ends the name.
    private static func tag(_ name: String, _ value: String) -> String {
        var name = written(name, allowing: "_-./")
        if !(name.unicodeScalars.first?.properties.isAlphabetic ?? false) { name = "x" + name }
        let value = written(value, allowing: "_-./:")
        var tag = value.isEmpty ? name : name + ":" + value
        tag = String(String.UnicodeScalarView(tag.unicodeScalars.prefix(longestTag)))
        // Datadog forbids a colon at the end and strips underscores there.
        while let last = tag.unicodeScalars.last, last == ":" || last == "_", tag.unicodeScalars.count > 1 {
            tag.unicodeScalars.removeLast()
        }
        return tag
    }

    private static func written(_ text: String, allowing signs: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.lowercased().precomposedStringWithCanonicalMapping.unicodeScalars {
            let fits = scalar.properties.isAlphabetic || scalar.properties.numericType != nil || signs.unicodeScalars.contains(scalar)
            if fits || result.last != "_" { result.append(fits ? scalar : "_") }
        }
        return String(result)
    }

    /// Judges by the status alone.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { answer.usualVerdict }
}
