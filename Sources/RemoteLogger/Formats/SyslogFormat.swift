import CSystemLibraries
public import Foundation

/// Syslog messages (RFC 5424) with octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3), for rsyslog, syslog-ng and similar receivers.
///
///     let shipper = try LogShipper(toSyslog: SyslogReceiver(host: "logs.example.com"), format: SyslogFormat(application: "shop"))
///
/// | part | content |
/// |---|---|
/// | PRI | the facility and the level: critical 2, error 3, warning 4, notice 5, info 6, debug and trace 7 |
/// | TIMESTAMP | the record's time, in UTC, with microseconds |
/// | MSGID | the logger's label |
/// | `timeQuality` | that the time zone is known, and whether this machine's clock is synchronized (`isSynced`), if the system reports it |
/// | `meta` | the record's sequence, from 1 to 2147483647 and then from 1 again |
/// | `record@…` | `id`, `sequence`, `time` in nanoseconds, `level`, and trace, error and source if there are any |
/// | `metadata@…` | the metadata; names of nested values are joined by dots; a name that is already taken gets a trailing `_` |
/// | MSG | the message in UTF-8, with a byte order mark if it isn't ASCII |
///
/// A message above ``maximumMessageBytes`` is cut: first its text, then its metadata, finally everything but `id`; the parameter
/// `truncated` gives the bytes of the whole message.
public struct SyslogFormat: LogFormat {
    /// The facility, from 0 to 23 (RFC 5424 §6.2.1). The default is 16, `local0`.
    public let facility: Int
    /// HOSTNAME.
    public let hostname: String
    /// APP-NAME.
    public let application: String
    /// PROCID.
    public let process: String
    /// The private enterprise number in the names of structured data. The default is 32473, which is reserved for examples (RFC 5612).
    public let enterprise: UInt32
    /// The maximum number of bytes of a message, at least 480. The default is 8,192, which receivers over TLS should accept (RFC 5425
    /// §4.3.1).
    public let maximumMessageBytes: Int
    /// Whether the clock is synchronized; `nil` if unknown. It is evaluated for each message, since clocks often synchronize some time
    /// after a start. Records of an earlier run most likely used the same clock.
    var isClockSynchronized: @Sendable () -> Bool? = Self.systemClockIsSynchronized

    /// The maximum number of bytes of one send: at least 256 KiB, and room for two messages.
    public var maximumBodyBytes: Int { max(256 << 10, 2 * maximumMessageBytes) }
    /// `text/plain`.
    public var contentType: String { "text/plain" }

    /// Creates a format. Characters that syslog header fields don't allow are replaced by `_`, long fields are cut.
    public init(
        application: String, hostname: String = ProcessInfo.processInfo.hostName, facility: Int = 16, enterprise: UInt32 = 32_473,
        maximumMessageBytes: Int = 8_192
    ) {
        self.facility = min(23, max(0, facility))
        self.hostname = Self.field(hostname, 255)
        self.application = Self.field(application, 48)
        process = String(ProcessInfo.processInfo.processIdentifier)
        self.enterprise = enterprise
        self.maximumMessageBytes = min(max(480, maximumMessageBytes), 64 << 20)
    }

    /// Writes a frame for each record.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * 400)
        for record in records {
            let message = message(of: record)
            bytes += String(message.count).utf8
            bytes.append(UInt8(ascii: " "))
            bytes += message
        }
        return Data(bytes)
    }

    /// Returns ``DeliveryVerdict/delivered(remark:)``: the protocol has no answers.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { .delivered() }

    /// Returns a record as a message, without its frame.
    public func message(of record: LogRecord) -> [UInt8] {
        let text = Array(record.message.utf8)
        let mark: [UInt8] = text.allSatisfy { $0 < 0x80 } ? [] : [0xEF, 0xBB, 0xBF]
        var head = head(of: record, truncated: nil, metadata: true)
        var size = head.count + 1 + mark.count + text.count
        guard size > maximumMessageBytes else { return head + [UInt8(ascii: " ")] + mark + text }
        head = self.head(of: record, truncated: size, metadata: true)
        // Reserves a quarter for the text if the metadata would leave less.
        if head.count > maximumMessageBytes * 3 / 4 { head = self.head(of: record, truncated: size, metadata: false) }
        if head.count > maximumMessageBytes * 3 / 4 { head = self.head(of: record, truncated: size, metadata: nil) }
        size = max(0, maximumMessageBytes - head.count - 1 - mark.count)
        return head + [UInt8(ascii: " ")] + mark + Array(FlatMetadata.prefix(of: record.message, bytes: size).utf8)
    }

    /// The header and the structured data.
    ///
    /// - Parameter metadata: Whether metadata is written; `nil` to omit everything but the id.
    private func head(of record: LogRecord, truncated: Int?, metadata: Bool?) -> [UInt8] {
        var text = JSONText()
        text.byte("<")
        text.integer(UInt64(facility * 8 + SyslogSeverity.number(of: record.level)))
        text.raw(">1 ")
        writeTime(record.time, into: &text)
        for field in [hostname, application, process, record.label.isEmpty ? "-" : Self.field(record.label, 32)] {
            text.byte(" ")
            text.ascii(field)
        }
        text.byte(" ")
        if metadata != nil { writeQuality(of: record, into: &text) }
        var parameters: [(String, String)] = [("id", record.id.description)]
        if let truncated { parameters.append(("truncated", String(truncated))) }
        if metadata != nil {
            parameters += [("sequence", String(record.sequence)), ("time", String(record.time)), ("level", record.level.description)]
            if let trace = record.trace {
                parameters.append(("trace", trace.traceID))
                if let span = trace.spanID { parameters.append(("span", span)) }
            }
            if let error = record.error { parameters.append(("error", error)) }
            if let source = record.source { parameters.append(("source", "\(source.file):\(source.line)")) }
        }
        write("record", parameters, into: &text)
        if metadata == true, !record.metadata.isEmpty {
            // The grammar allows a name twice, but receivers keep only one of the values.
            var names = UniqueNames(maximum: Self.longestName)
            let values = FlatMetadata.pairs(of: record.metadata).map { pair in
                (names.name(for: Self.name(pair.name)), FlatMetadata.text(of: pair.value))
            }
            write("metadata", values, into: &text)
        }
        return Array(text.data)
    }

    /// Writes the quality of the time and the position in the sequence (RFC 5424 §7.1, §7.3.1).
    private func writeQuality(of record: LogRecord, into text: inout JSONText) {
        text.raw("[timeQuality tzKnown=\"1\"")
        if let isSynchronized = isClockSynchronized() { text.raw(isSynchronized ? " isSynced=\"1\"" : " isSynced=\"0\"") }
        text.raw("][meta sequenceId=\"")
        text.integer((max(1, record.sequence) - 1) % 2_147_483_647 + 1)
        text.raw("\"]")
    }

    /// Writes a time with six fractional digits, the most that the RFC allows.
    private func writeTime(_ time: UInt64, into text: inout JSONText) {
        var whole = JSONText()
        TimestampText.write(nanoseconds: time, into: &whole)
        text.ascii(whole.string.dropLast(4))
        text.byte("Z")
    }

    private func write(_ id: StaticString, _ parameters: [(String, String)], into text: inout JSONText) {
        guard !parameters.isEmpty else { return }
        text.byte("[")
        text.raw(id)
        text.byte("@")
        text.integer(UInt64(enterprise))
        for (name, value) in parameters {
            text.byte(" ")
            text.ascii(name)
            text.raw("=\"")
            text.parameter(value)
            text.byte("\"")
        }
        text.byte("]")
    }

    @Sendable static func systemClockIsSynchronized() -> Bool? {
        let answer = csl_wall_is_synchronized()
        return answer < 0 ? nil : answer != 0
    }

    /// Restricts a field to printable ASCII without spaces.
    private static func field(_ text: String, _ limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { (0x21...0x7E).contains($0.value) ? Character($0) : "_" }
        return scalars.isEmpty ? "-" : String(scalars)
    }

    /// The maximum number of characters of a name (RFC 5424 §6).
    private static let longestName = 32

    /// A field without `=`, `]` and quotes.
    private static func name(_ text: String) -> String {
        String(field(text, longestName).map { "=]\"".contains($0) ? "_" : $0 })
    }
}

extension JSONText {
    /// Writes ASCII text unchanged.
    mutating func ascii(_ text: some StringProtocol) {
        for scalar in text.unicodeScalars { byte(scalar) }
    }

    /// Writes a value of structured data: quote, backslash and bracket are escaped, nothing else (RFC 5424 §6.3.3).
    mutating func parameter(_ value: String) {
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "]") { self.byte("\\") }
            append(byte)
        }
    }
}

/// The severities of RFC 5424 §6.2.1, which GELF and Datadog use, too.
enum SyslogSeverity {
    static func number(of level: LogLevel) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
