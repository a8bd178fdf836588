import Foundation
import Testing

@testable import RemoteLogger

/// Every value of a record reaches every receiver under a unique name, for any names.
@Suite(.timeLimit(.minutes(5))) struct NameCollisionTests {
    private static let formats = SampleFormats.all

    /// Metadata whose values are `v0`, `v1` …, in any nesting.
    static let samples: [LogMetadata] = [
        ["source": "v0", "logger": "v1", "error": "v2"],
        [
            "record_id": "v0", "sequence": "v1", "trace_id": "v2", "span_id": "v3", "line_bytes": "v4", "dropped_metadata": "v5",
            "level": "v6",
        ],
        ["user.id": "v0", "user_id": "v1", "user-id": "v2", "user id": "v3", "user": ["id": "v4"] as LogMetadata],
        ["日本": "v0", "中国": "v1", "Ωβ": "v2", "éà": "v3", "__": "v4"],
        ["exception.message": "v0", "code.function.name": "v1", "code.file.path": "v2", "code.line.number": "v3"],
        [
            "log.record.uid": "v0", "log.record.sequence": "v1", "log.record.uid_": "v2", "exception.message_": "v3",
            "exception.message": "v4",
        ],
        ["foo": "v0", "foo.bar": "v1"], ["foo.bar": "v0", "foo": "v1"], ["a": ["b": "v0"] as LogMetadata, "a.b": "v1", "a_b": "v2"],
        ["1": "v0", "x1": "v1", "__x": "v2", "x__x": "v3", " ": "v4", "  ": "v5", "_": "v6"],
        ["gl2_x": "v0", "_gl2_x": "v1", "id": "v2", "_id": "v3", "message": "v4", "short_message": "v5", "host": "v6", "timestamp": "v7"],
        ["status": "v0", "service": "v1", "ddtags": "v2", "ddsource": "v3", "hostname": "v4", "logger.name": "v5"],
        ["truncated": "v0", "time": "v1", "meta": "v2", "a=b": "v3", "a]b": "v4", "a\"b": "v5", "a b": "v6"],
        [
            String(repeating: "n", count: 2_000): "v0", String(repeating: "n", count: 2_001): "v1",
            String(repeating: "n", count: 1_999): "v2",
        ],
        ["A": "v0", "a": "v1", "ä": "v2", "Ä": "v3"],
        ["@timestamp": "v0", "log": "v1", "log.level": "v2", "event": "v3", "event.id": "v4", "metadata": "v5"],
    ]

    private func texts(in value: Any) -> [String] {
        switch value {
        case let text as String: [text]
        case let values as [Any]: values.flatMap { texts(in: $0) }
        case let object as [String: Any]: object.values.flatMap { texts(in: $0) }
        default: []
        }
    }

    /// All texts that a receiver finds, with repetitions. Foundation keeps one value of a repeated name.
    private func found(in body: Data) throws -> [String] {
        let values = body.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONSerialization.jsonObject(with: $0) }
        if !values.isEmpty { return values.flatMap { texts(in: $0) } }
        // Syslog receivers keep one of several parameters with the same name.
        let text = String(decoding: body, as: UTF8.self)
        let pairs = text.matches(of: try Regex(#" ([^ =\]"]+)="(v\d)""#)).compactMap { match in
            match[1].substring.flatMap { name in match[2].substring.map { (String(name), String($0)) } }
        }
        return Array(Dictionary(pairs) { $1 }.values)
    }

    @Test(arguments: formats.keys.sorted(), samples.indices) func `no value is lost for its name`(name: String, index: Int) throws {
        let format = try #require(Self.formats[name])
        let metadata = Self.samples[index]
        let count = metadata.reduce(0) { count, pair in
            if case .dictionary(let values) = pair.value { count + values.count } else { count + 1 }
        }
        let record = LogRecord.sample(
            1, .error, "m", metadata: metadata, label: "l", error: "e",
            trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 1), source: LogSource(file: "f", function: "g", line: 1))
        for record in [record, .sample(metadata: metadata)] {
            let values = try found(in: try format.encode([record])).filter { $0.wholeMatch(of: /v\d/) != nil }
            #expect(values.sorted() == (0..<count).map { "v\($0)" }, "\(metadata)")
        }
    }

    @Test(arguments: formats.keys.sorted()) func `an empty dictionary is a value, too`(name: String) throws {
        let format = try #require(Self.formats[name])
        let metadata: LogMetadata = ["nothing": LogMetadata(), "a": ["hollow": LogMetadata(), "b": 1] as LogMetadata]
        let body = String(decoding: try format.encode([.sample(metadata: metadata)]), as: UTF8.self)
        for name in ["nothing", "hollow"] { #expect(body.contains(name), "\(body)") }
    }

    @Test func `Loki's names are as GELF's`() throws {
        let record = LogRecord.sample(
            metadata: ["source": 1, "logger": 2, "error": 3, "user_id": 4, "user.id": 5], error: "e",
            source: LogSource(file: "f", function: "g", line: 1))
        let body = String(decoding: try LokiFormat(labels: ["app": "a"]).encode([record]), as: UTF8.self)
        for pair in [#""source":"f:1""#, #""source_":"1""#, #""logger_":"2""#, #""error_":"3""#, #""user_id":"4""#, #""user_id_":"5""#] {
            #expect(body.contains(pair), "\(pair)")
        }
        #expect(!body.contains("dropped_metadata"))
    }

    @Test func `OTLP keeps a name that the record doesn't use`() throws {
        let metadata: LogMetadata = ["exception.message": "mine", "code.function.name": "f"]
        let free = String(decoding: try OTLPFormat().encode([.sample(metadata: metadata)]), as: UTF8.self)
        #expect(free.contains(#"{"key":"exception.message","value":{"stringValue":"mine"}}"#))
        #expect(free.contains(#"{"key":"code.function.name","value":{"stringValue":"f"}}"#))
        let record = LogRecord.sample(metadata: metadata, error: "e", source: LogSource(file: "f", function: "g()", line: 1))
        let used = String(decoding: try OTLPFormat().encode([record]), as: UTF8.self)
        #expect(used.contains(#"{"key":"exception.message","value":{"stringValue":"e"}}"#))
        #expect(used.contains(#"{"key":"exception.message_","value":{"stringValue":"mine"}}"#))
        #expect(used.contains(#"{"key":"code.function.name_","value":{"stringValue":"f"}}"#))
        #expect(!used.contains("droppedAttributesCount"))
    }

    @Test func `labels of Loki that become one stay two`() {
        let names = LokiFormat(labels: ["a b": 1, "a_b": 2, "a.b": 3, "日": 4, "本": 5]).labels.map(\.name)
        #expect(Set(names).count == 5 && names[..<3] == ["a_b", "a_b_", "a_b__"])
    }

    // MARK: Sizes

    /// Letters that each become `_`.
    private static let letters = (0..<2_000).compactMap { Unicode.Scalar(0x4E00 + UInt32($0)) }.map { String($0) }

    @Test(arguments: formats.keys.sorted()) func `two thousand names of one letter cost a few bytes each`(name: String) throws {
        let format = try #require(Self.formats[name])
        let metadata = LogMetadata(Self.letters.map { ($0, .int(1)) })
        let body = try format.encode([.sample(metadata: metadata)])
        // OTLP adds a frame to each value; Loki and OTLP omit values above their bounds.
        #expect(body.count < 2_000 * 60, "\(body.count)")
        if name == "GELF" {
            let fields = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
            #expect(fields.values.count { ($0 as? NSNumber)?.intValue == 1 } >= 2_000 && body.count < 64 << 10)
        }
    }

    @Test(arguments: formats.keys.sorted(), 0..<4) func `five thousand hostile names end`(name: String, kind: Int) throws {
        let format = try #require(Self.formats[name])
        let metadata: LogMetadata =
            switch kind {
            case 0: LogMetadata((0..<5_000).map { (String(repeating: " ", count: $0 % 100) + "\u{3000}\($0 / 100)", .int(1)) })
            case 1: LogMetadata((0..<5_000).map { ("a.\($0 % 2 == 0 ? "b" : "b.c").\($0)", .int(1)) })
            case 2: ["n": LogMetadata((0..<5_000).map { (Unicode.Scalar(0x4E00 + UInt32($0)).map { String($0) } ?? "", .int(1)) })]
            // Each name is a path of more than two thousand parts.
            default: LogMetadata((0..<20).map { (String(repeating: "a.", count: 2_000 + $0) + "b", .int(1)) })
            }
        let body = try format.encode([.sample(metadata: metadata)])
        #expect(body.count < 1 << 20)
    }

    @Test(arguments: ["Loki", "GELF", "syslog"]) func `a long name of nested values isn't repeated by each`(name: String) throws {
        let format = try #require(Self.formats[name])
        let inner = LogMetadata((0..<500).map { ("k\($0)", .int(Int64($0))) })
        let body = try format.encode([.sample(metadata: [String(repeating: "n", count: 50_000): inner])])
        #expect(body.count < 500 * 320, "\(body.count)")
    }
}
