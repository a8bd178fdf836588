import Foundation
import RemoteLogger
import TestSupport
import Testing

/// Ten thousand records of anything that may come, in each format that is JSON, as Foundation reads them; OTLP has its own judge.
@Suite struct GeneratedRecordsTests {
    private typealias Object = [String: Any]

    /// The same for all formats, made once: that takes about as long as to write them.
    private static let records: [LogRecord] = {
        var generator = SeededGenerator(seed: 21)
        return (0..<10_000).map { LogRecord.random(UInt64($0), using: &generator) }
    }()

    /// Calls with the records and the body of each batch, which is within the format's bounds.
    private func eachBatch(of format: any LogFormat, _ body: ([LogRecord], Data) throws -> Void) throws {
        let size = min(100, format.maximumRecords)
        for start in stride(from: 0, to: Self.records.count, by: size) {
            let records = Array(Self.records[start..<min(start + size, Self.records.count)])
            let encoded = try format.encode(records)
            #expect(encoded.count <= format.maximumBodyBytes)
            try body(records, encoded)
        }
    }

    private func object(_ data: some DataProtocol) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(data)) as? Object)
    }

    private func isNamePart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// What is between line breaks. To split the bytes takes several times longer where the standard library's code isn't specialised.
    private func lines(_ body: Data) -> [Data] {
        var lines: [Data] = []
        var start = body.startIndex
        while let lineBreak = body.range(of: Data("\n".utf8), in: start..<body.endIndex) {
            if lineBreak.lowerBound > start { lines.append(Data(body[start..<lineBreak.lowerBound])) }
            start = lineBreak.upperBound
        }
        return start < body.endIndex ? lines + [Data(body[start...])] : lines
    }

    /// Foundation's reader on Linux leaves U+FEFF out of a text.
    private func expect(_ found: Any?, _ expected: String, _ location: SourceLocation = #_sourceLocation) {
        func plain(_ text: String) -> String { String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\u{FEFF}" })) }
        let isSame = (found as? String).map(plain) == plain(expected)
        #expect(isSame, "\(String(describing: found)) isn't \(expected.debugDescription)", sourceLocation: location)
    }

    @Test func `NDJSON`() throws {
        try eachBatch(of: NDJSONFormat()) { records, body in
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) {
                let object = try object(line)
                expect(object["id"], record.id.description)
                expect(object["message"], record.message)
                #expect((object["metadata"] as? Object == nil) == record.metadata.isEmpty)
            }
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
                expect(try object(lines[2 * index + 1])["message"], record.message)
            }
        }
    }

    @Test func `Loki`() throws {
        try eachBatch(of: LokiFormat(labels: ["app": "shop"])) { records, body in
            var ids: Set<String> = []
            for stream in try #require(try object(body)["streams"] as? [Object]) {
                let labels = try #require(stream["stream"] as? [String: String])
                #expect(labels["app"] == "shop" && LogLevel(name: labels["level"] ?? "") != nil)
                for value in try #require(stream["values"] as? [[Any]]) {
                    try #require(value.count == 3)
                    #expect((value[0] as? String).flatMap { UInt64($0) } != nil && value[1] is String)
                    let metadata = try #require(value[2] as? [String: String])
                    #expect(metadata.keys.allSatisfy { $0.utf8.allSatisfy(isNamePart) })
                    ids.insert(metadata["record_id"] ?? "")
                }
            }
            #expect(ids == Set(records.map(\.id.description)))
        }
    }

    @Test func `Splunk`() throws {
        try eachBatch(of: SplunkFormat(index: "shop")) { records, body in
            // Objects one behind another; a line has one.
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) {
                let event = try object(line)
                #expect(event["time"] != nil && event["index"] as? String == "shop")
                let inner = try #require(event["event"] as? Object)
                expect(inner["id"], record.id.description)
                expect(inner["message"], record.message)
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
                expect(entry["log.record.uid"], record.id.description)
            }
        }
    }

    @Test func `GELF`() throws {
        try eachBatch(of: GELFFormat(host: "shop-1", bulk: true)) { records, body in
            let lines = lines(body)
            try #require(lines.count == records.count)
            for (line, record) in zip(lines, records) {
                let message = try object(line)
                expect(message["version"], "1.1")
                expect(message["host"], "shop-1")
                expect(message["_record_id"], record.id.description)
                #expect(message["short_message"] is String)
                #expect(!String(decoding: line, as: UTF8.self).contains(#""short_message":"""#), "it mustn't be empty")
                #expect(message["_id"] == nil)
            }
        }
    }
}
