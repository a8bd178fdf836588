import Foundation
import RemoteLogger
import TestSupport
import Testing

/// Random records in each JSON format, as Foundation parses them; OTLP has its own judge.
@Suite struct GeneratedRecordsTests {
    typealias Object = [String: Any]

    /// Shared by all formats, since generating them takes about as long as encoding them.
    private static let records: [LogRecord] = {
        var generator = SeededGenerator(seed: 21)
        return (0..<Sweep.rounds(ofAll: 10_000)).map { LogRecord.random(UInt64($0), using: &generator) }
    }()

    /// Calls the closure with the records and the body of each batch within the format's bounds.
    func eachBatch(of format: any LogFormat, _ body: ([LogRecord], Data) throws -> Void) throws {
        let size = min(100, format.maximumRecords)
        for start in stride(from: 0, to: Self.records.count, by: size) {
            let records = Array(Self.records[start..<min(start + size, Self.records.count)])
            let encoded = try format.encode(records)
            #expect(encoded.count <= format.maximumBodyBytes)
            try body(records, encoded)
        }
    }

    func object(_ data: some DataProtocol) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(data)) as? Object)
    }

    /// The text between line breaks. Splitting the bytes takes several times longer if the standard library's code isn't specialized.
    func lines(_ body: Data) -> [Data] {
        var lines: [Data] = []
        var start = body.startIndex
        while let lineBreak = body.range(of: Data("\n".utf8), in: start..<body.endIndex) {
            if lineBreak.lowerBound > start { lines.append(Data(body[start..<lineBreak.lowerBound])) }
            start = lineBreak.upperBound
        }
        return start < body.endIndex ? lines + [Data(body[start...])] : lines
    }

    /// - Parameter expected: The text; `nil` if there must be no value.
    func expect(_ found: Any?, _ expected: String?, _ location: SourceLocation = #_sourceLocation) {
        let isSame = expected.map { LogValue.string($0).isRead(as: found) } ?? (found == nil)
        #expect(isSame, "\(String(describing: found)) isn't \(expected.debugDescription)", sourceLocation: location)
    }

    func expect(_ found: Any?, _ expected: some BinaryInteger, _ location: SourceLocation = #_sourceLocation) {
        let isSame = (found as? NSNumber)?.uint64Value == UInt64(expected)
        #expect(isSame, "\(String(describing: found)) isn't \(expected)", sourceLocation: location)
    }

    private func digits(_ number: UInt64, _ count: Int, radix: Int = 10) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: count - text.count) + text
    }

    /// The nanoseconds of a record: all are within one second, 1,772,357,400.
    func fraction(_ record: LogRecord) -> String { digits(record.time - 1_772_357_400_000_000_000, 9) }
    private func time(_ record: LogRecord) -> String { "2026-03-01T09:30:00.\(fraction(record))Z" }
    func label(_ record: LogRecord) -> String? { record.label.isEmpty ? nil : record.label }
    func place(_ record: LogRecord) -> String? { record.source.map { "\($0.file):\($0.line)" } }
    func span(_ record: LogRecord) -> String? { record.trace?.span.map { digits($0, 16, radix: 16) } }
    func trace(_ record: LogRecord) -> String? {
        record.trace.map { digits($0.traceHigh, 16, radix: 16) + digits($0.traceLow, 16, radix: 16) }
    }

    private func expectAll(of record: LogRecord, in object: Object) {
        expect(object["id"], record.id.description)
        expect(object["time"], time(record))
        expect(object["level"], "\(record.level)")
        expect(object["label"], label(record))
        expect(object["message"], record.message)
        expect(object["error"], record.error)
        expect(object["sequence"], record.sequence)
        expect(object["trace"], trace(record))
        expect(object["span"], span(record))
        #expect((object["flags"] as? NSNumber)?.uint8Value ?? 0 == record.trace?.flags ?? 0)
        expect(object["file"], record.source?.file)
        expect(object["function"], record.source?.function)
        #expect((object["line"] as? NSNumber)?.intValue == record.source.map { Int($0.line) })
        expectMetadata(of: record, in: object)
    }

    private func expectMetadata(of record: LogRecord, in object: Object, isFinite: Bool = false) {
        let isSame = record.metadata.isRead(as: object["metadata"] ?? Object(), isFinite: isFinite)
        #expect(isSame && (object["metadata"] == nil) == record.metadata.isEmpty, "\(record.metadata): \(object)")
    }

    @Test func `NDJSON`() throws {
        try eachBatch(of: NDJSONFormat()) { records, body in
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) { expectAll(of: record, in: try object(line)) }
        }
    }

    @Test func `Elasticsearch`() throws {
        try eachBatch(of: ElasticsearchFormat(index: "logs-shop")) { records, body in
            let lines = lines(body)
            try #require(lines.count == 2 * records.count)
            for (index, record) in records.enumerated() {
                let action = try #require(try object(lines[2 * index])["create"] as? Object)
                expect(action["_id"], record.id.description)
                expect(action["_index"], "logs-shop")
                let document = try object(lines[2 * index + 1])
                func part(_ name: String, of object: Object?) -> Object? { object?[name] as? Object }
                let log = part("log", of: document)
                let origin = part("origin", of: log)
                expect(document["message"], record.message)
                expect(document["@timestamp"], time(record))
                expect(log?["level"], "\(record.level)")
                expect(log?["logger"], label(record))
                expect(part("file", of: origin)?["name"], record.source?.file)
                #expect((part("file", of: origin)?["line"] as? NSNumber)?.intValue == record.source.map { Int($0.line) })
                expect(origin?["function"], record.source?.function)
                expect(part("event", of: document)?["id"], record.id.description)
                expect(part("event", of: document)?["sequence"], record.sequence)
                expect(part("trace", of: document)?["id"], trace(record))
                expect(part("span", of: document)?["id"], span(record))
                expect(part("error", of: document)?["message"], record.error)
                expectMetadata(of: record, in: document, isFinite: true)
            }
        }
    }

    @Test func `Splunk`() throws {
        try eachBatch(of: SplunkFormat(index: "shop")) { records, body in
            // One object per line.
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) {
                let event = try object(line)
                expect(event["index"], "shop")
                // Has more digits than a `Double`.
                #expect(line.starts(with: Data("{\"time\":1772357400.\(fraction(record)),".utf8)))
                expectAll(of: record, in: try #require(event["event"] as? Object))
            }
        }
    }

    @Test func `Datadog`() throws {
        try eachBatch(of: DatadogFormat(service: "shop")) { records, body in
            let entries = try #require(try JSONSerialization.jsonObject(with: body) as? [Object])
            try #require(entries.count == records.count)
            for (entry, record) in zip(entries, records) {
                expect(entry["service"], "shop")
                expect(entry["message"], record.message)
                expect(entry["status"], record.level == .trace ? "debug" : "\(record.level)")
                expect(entry["timestamp"], 1_772_357_400_000)
                expect(entry["log.record.uid"], record.id.description)
                expect(entry["log.record.sequence"], record.sequence)
                expect(entry["log.record.time"], time(record))
                expect(entry["logger.name"], label(record))
                expect(entry["error.message"], record.error)
                expect(entry["dd.trace_id"], trace(record))
                expect(entry["dd.span_id"], record.trace?.span.map { "\($0)" })
                expect(entry["source.file"], place(record))
                expectMetadata(of: record, in: entry)
            }
        }
    }
}

/// The formats without nesting.
extension GeneratedRecordsTests {
    @Test func `Loki`() throws {
        try eachBatch(of: LokiFormat(labels: ["app": "shop"])) { records, body in
            var left = Dictionary(uniqueKeysWithValues: records.map { ($0.id.description, $0) })
            for stream in try #require(try object(body)["streams"] as? [Object]) {
                let labels = try #require(stream["stream"] as? [String: String])
                for value in try #require(stream["values"] as? [[Any]]) {
                    try #require(value.count == 3)
                    let metadata = try #require(value[2] as? [String: String])
                    let found = left.removeValue(forKey: metadata["record_id"] ?? "")
                    let record = try #require(found)
                    #expect(labels == ["app": "shop", "level": "\(record.level)"])
                    expect(value[0], "1772357400\(fraction(record))")
                    expect(value[1], record.message)
                    expectLabels(of: record, in: metadata)
                }
            }
            #expect(left.isEmpty)
        }
    }

    /// Names consist of ASCII letters, digits and `_`; the later one of two equal names gets a trailing `_`.
    private func expectLabels(of record: LogRecord, in found: [String: String]) {
        var names: Set<String> = ["record_id", "sequence"]
        let own = [
            ("logger", label(record)), ("trace_id", trace(record)), ("span_id", span(record)), ("error", record.error),
            ("source", place(record)),
        ]
        let pairs = own.compactMap { name, text in text.map { (name: name, value: LogValue.string($0)) } } + record.metadata.flat
        for pair in pairs {
            var name = pair.name.keeping("_")
            if name.first?.isNumber ?? true || name.hasPrefix("__") { name = "x" + name }
            while !names.insert(name).inserted { name += "_" }
            let isSame = pair.value.isRead(asText: found[name])
            #expect(isSame, "\(name): \(pair.value), \(found)")
        }
        expect(found["sequence"], "\(record.sequence)")
        #expect(found["dropped_metadata"] == nil && found.count == names.count)
    }

    @Test func `GELF`() throws {
        try eachBatch(of: GELFFormat(host: "shop-1", bulk: true)) { records, body in
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) {
                let message = try object(line)
                expect(message["version"], "1.1")
                expect(message["host"], "shop-1")
                // These characters are invisible, and Graylog requires a message.
                let isBlank = record.message.unicodeScalars.allSatisfy("\n\r\t\0\u{1F}\u{2028} \u{FEFF}".unicodeScalars.contains)
                expect(message["short_message"], isBlank ? "-" : record.message)
                // Has more digits than a `Double`.
                #expect(line.range(of: Data(",\"timestamp\":1772357400.\(fraction(record)),".utf8)) != nil)
                expect(message["level"], [7, 7, 6, 5, 4, 3, 2][LogLevel.allCases.firstIndex(of: record.level) ?? 0])
                expect(message["_level_name"], "\(record.level)")
                expect(message["_record_id"], record.id.description)
                expect(message["_sequence"], record.sequence)
                expect(message["_logger"], label(record))
                expect(message["_error"], record.error)
                expect(message["_trace_id"], trace(record))
                expect(message["_span_id"], span(record))
                expect(message["_file"], place(record))
                expectFields(of: record, in: message)
            }
        }
    }

    /// Names consist of ASCII letters, digits, `_`, `.` and `-`; a name that equals another with `_` for `.` gets a trailing `_`.
    private func expectFields(of record: LogRecord, in message: Object) {
        var names: Set<String> = []
        var left = Set(message.keys).subtracting([
            "version", "host", "short_message", "timestamp", "level", "_level_name", "_record_id", "_sequence", "_logger", "_error",
            "_trace_id",
            "_span_id", "_file",
        ])
        for pair in record.metadata.flat {
            var name = pair.name.keeping("_.-")
            while !names.insert(name.replacing(".", with: "_")).inserted { name += "_" }
            let found = message["_" + name]
            let isNumber =
                switch pair.value {
                case .int: true
                case .double(let value): value.isFinite
                default: false
                }
            let isSame = isNumber ? pair.value.isRead(as: found) : pair.value.isRead(asText: found as? String)
            #expect(isSame && left.remove("_" + name) != nil, "\(name): \(pair.value), \(message)")
        }
        #expect(left.isEmpty)
    }
}
