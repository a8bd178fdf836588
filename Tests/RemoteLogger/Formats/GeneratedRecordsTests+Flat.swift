import Foundation
import RemoteLogger
import Testing

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
