import Foundation
import Testing

@testable import RemoteLogger

/// The mapping that Elasticsearch derives from a document: each name is a path of objects that ends with a value.
@Suite(.timeLimit(.minutes(5))) struct ElasticsearchFieldsTests {
    /// Paths with their values, and the paths of objects.
    private struct Mapping {
        var values: [String: [String]] = [:]
        var objects: Set<String> = []

        mutating func add(_ value: Any, at path: [String]) {
            for count in 1..<max(1, path.count) { objects.insert(path[..<count].joined(separator: "\u{1}")) }
            switch value {
            case let object as [String: Any]:
                objects.insert(path.joined(separator: "\u{1}"))
                for (name, inner) in object {
                    add(inner, at: path + name.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
                }
            default: values[path.joined(separator: "\u{1}"), default: []].append("\(value)")
            }
        }

        var conflicts: [String] { values.keys.filter { objects.contains($0) || (values[$0]?.count ?? 0) > 1 } }
    }

    private func document(_ metadata: LogMetadata, fields: LogMetadata = LogMetadata()) throws -> [String: Any] {
        let record = LogRecord.sample(
            metadata: metadata, error: "e", trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 0),
            source: LogSource(file: "f", function: "g", line: 1))
        let body = try ElasticsearchFormat(index: "logs", fields: fields).encode([record])
        let line = try #require(body.split(separator: UInt8(ascii: "\n")).last)
        return try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    }

    private func mapping(_ document: [String: Any]) -> Mapping {
        var mapping = Mapping()
        for (name, value) in document {
            mapping.add(value, at: name.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        }
        return mapping
    }

    private static func count(_ metadata: LogMetadata) -> Int {
        metadata.reduce(0) { count, pair in
            if case .dictionary(let values) = pair.value { count + Self.count(values) } else { count + 1 }
        }
    }

    @Test(
        arguments: [
            (["foo": 1, "foo.bar": 2], ["foo.value", "foo.bar"]),
            (["foo.bar": 2, "foo": 1], ["foo.bar", "foo.value"]),
            (["foo": 1, "foo.bar.baz": 2], ["foo.value", "foo.bar.baz"]),
            (["a": ["b": 1, "b.c": 2] as LogMetadata], ["a.b.value", "a.b.c"]),
            (["a": ["b": 1] as LogMetadata, "a.b.c": 2], ["a.b.value", "a.b.c"]),
            (["a.b": 1, "a": ["b": ["c": 2] as LogMetadata] as LogMetadata], ["a.b.value", "a.b.c"]),
            (["foo": 1, "foo.bar": 2, "foo.value": 3], ["foo.value_", "foo.bar", "foo.value"]),
            (["foo": 1, "foo.value.x": 2], ["foo.value_", "foo.value.x"]),
            (["foo": 1, "foo.bar": 2, "foo.bar.baz": 3], ["foo.value", "foo.bar.value", "foo.bar.baz"]),
            (["a": ["b": 1] as LogMetadata, "a.b": 2], ["a.b", "a.b_"]),
            (["foo": LogValue.null, "foo.bar": 2], ["foo.value", "foo.bar"]),
            (["foo": LogValue.array([1, 2]), "foo.bar": 2], ["foo.value", "foo.bar"]),
            (["foo": LogMetadata(), "foo.bar": 1], ["foo.bar"]),
            (["x": 1, "x..y": 2, "x. .y": 3], ["x.value", "x._.y", "x._.y_"]),
            (["日": 1, "日.本": 2], ["日.value", "日.本"]),
        ] as [(LogMetadata, [String])])
    func `a value beside an object of its name gets a place of its own`(metadata: LogMetadata, names: [String]) throws {
        let found = mapping(try document(metadata))
        #expect(found.conflicts.isEmpty, "\(found)")
        let paths = found.values.keys.filter { $0.hasPrefix("metadata\u{1}") }.map { $0.replacing("\u{1}", with: ".").dropFirst(9) }
        #expect(Set(paths.map { String($0) }) == Set(names))
    }

    @Test(arguments: 0..<100) func `no document contradicts itself, and no value is lost`(seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        var number = 0
        func metadata(_ depth: Int) -> LogMetadata {
            LogMetadata(
                (0..<random(6) + 1).map { _ in
                    let name = (0..<random(3) + 1).map { _ in ["a", "b", "value", "", " ", "a_", "value_"][random(7)] }.joined(
                        separator: ".")
                    number += 1
                    return (name, depth < 3 && random(3) == 0 ? .dictionary(metadata(depth + 1)) : .string("v\(number)"))
                })
        }
        let sample = metadata(0)
        let found = mapping(try document(sample))
        #expect(found.conflicts.isEmpty, "\(sample): \(found)")
        let values = found.values.filter { $0.key.hasPrefix("metadata\u{1}") }.values.joined()
        #expect(values.count == Self.count(sample) && Set(values).count == values.count, "\(sample): \(found)")
    }

    @Test(
        arguments: [
            (["event": ["dataset": "x"] as LogMetadata], "event.dataset"), (["event": ["id": "x"] as LogMetadata], "event.id_"),
            (["log.level": "x"], "log.level_"), (["message": "x"], "message_"), (["message.y": "x"], "message_.y"),
            (["message": ["y": "x"] as LogMetadata], "message_.y"), (["log": "x"], "log.value"), (["metadata": "x"], "metadata_"),
            (["metadata": ["m": "x"] as LogMetadata], "metadata_.m"), (["@timestamp": "x"], "@timestamp_"), (["trace": "x"], "trace.value"),
            (["service": ["name": "x"] as LogMetadata], "service.name"), (["error.code": "x"], "error.code"),
        ] as [(LogMetadata, String)])
    func `fields of the program stand beside the record's own`(fields: LogMetadata, name: String) throws {
        let found = mapping(try document(["m": "mine"], fields: fields))
        #expect(found.conflicts.isEmpty, "\(found)")
        #expect(found.values[name.replacing(".", with: "\u{1}")] == ["x"], "\(found.values)")
        #expect(found.values["message"] == ["Hello"] && found.values["metadata\u{1}m"] == ["mine"])
        #expect(found.values["event\u{1}id"]?.count == 1)
    }

    @Test(
        arguments: [
            ("@timestamp", .array([["y": "x"]])), ("message", .array([.array([["y": "x"]])])), ("log", .array([["y": "x"]])),
            ("trace.id", .array([["y": "x"]])), ("trace.id", ["y": "x"]), ("event.id", ["y": ["z": "x"]]), ("message", ["y": "x"]),
        ] as [(String, LogValue)])
    func `objects of the program never take the name of a record's own value`(name: String, value: LogValue) throws {
        let fields = LogMetadata([(name, value)])
        let record = LogRecord.sample(trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 0))
        let body = try ElasticsearchFormat(index: "logs", fields: fields).encode([record])
        let line = String(decoding: try #require(body.split(separator: UInt8(ascii: "\n")).last), as: UTF8.self)
        // A parsed document doesn't show a name that the text has twice.
        #expect(line.components(separatedBy: "\"\(name)\":").count == (["message", "log", "@timestamp"].contains(name) ? 2 : 1), "\(line)")
        let found = mapping(try document([:], fields: fields))
        #expect(found.conflicts.isEmpty, "\(found)")
        #expect(found.values["trace\u{1}id"]?.count == 1 && found.values["event\u{1}id"]?.count == 1, "\(found)")
    }

    @Test func `what needs no change stays as it is`() throws {
        let metadata: LogMetadata = ["a": 1, "b.c": 2, "d": ["e": 3] as LogMetadata, "list": LogValue.array([1, .dictionary(["x": 1])])]
        let written = try #require(try document(metadata)["metadata"] as? [String: Any])
        #expect(Set(written.keys) == ["a", "b.c", "d", "list"])
    }

    @Test(arguments: ["index_not_found_exception", "invalid_index_name_exception", "index_closed_exception"])
    func `an index that can't take anything loses nothing`(type: String) {
        let status = type == "index_not_found_exception" ? 404 : 400
        let body = #"{"errors":true,"items":[{"create":{"status":\#(status),"error":{"type":"\#(type)","reason":"r"}}}]}"#
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: 200, body: Data(body.utf8), records: 1))
        #expect(verdict == .each([.pause(reason: "\(type): r")]))
    }

    @Test(arguments: ["no handler found for uri [/x]", "pipeline with id [p] does not exist", "maximum normal shards open"])
    func `A record that quotes an error about settings is rejected alone`(quoted: String) {
        let reason = "failed to parse field [n] of type [long]. Preview of field's value: '\(quoted)'"
        let item = #"{"create":{"status":400,"error":{"type":"document_parsing_exception","reason":"\#(reason)"}}}"#
        let body = #"{"errors":true,"items":[\#(item),{"create":{"status":201}}]}"#
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: 200, body: Data(body.utf8), records: 2))
        guard case .each(let verdicts) = verdict, case .rejected? = verdicts.first, case .delivered? = verdicts.last else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test(
        arguments: [
            (400, #"{"error":"no handler found for uri [/logs/_bulkk] and method [POST]"}"#),
            (400, #"{"error":{"type":"invalid_index_name_exception","reason":"Invalid index name [A]"},"status":400}"#),
            (400, #"{"error":{"type":"illegal_argument_exception","reason":"pipeline with id [p] does not exist"},"status":400}"#),
            (200, #"{"status":"ok"}"#), (200, #"{"name":"node","tagline":"You Know, for Search"}"#), (200, #"{"errors":true}"#),
        ])
    func `A wrong URL loses nothing`(status: Int, body: String) {
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: status, body: Data(body.utf8), records: 2))
        guard case .pause = verdict else {
            Issue.record("\(verdict): \(body)")
            return
        }
    }

    @Test(arguments: [
        #"{"error":{"type":"illegal_argument_exception","reason":"Malformed action/metadata line [1]"},"status":400}"#, "?", "[]", "{}",
    ])
    func `Another 400 is searched for its record`(body: String) {
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: 400, body: Data(body.utf8), records: 2))
        guard case .isolate = verdict else {
            Issue.record("\(verdict): \(body)")
            return
        }
    }

    /// Texts of Elasticsearch 7 and 8, whose error types differ.
    @Test(
        arguments: [
            (
                "validation_exception",
                "this action would add [2] shards, but this cluster currently has [1000]/[1000] maximum normal shards open;"
            ),
            (
                "illegal_argument_exception",
                "Validation Failed: 1: this action would add [2] shards, but this cluster currently has [9]/[9] maximum shards open;"
            ),
            ("illegal_argument_exception", "no write index is defined for alias [logs]. The write index may be explicitly disabled"),
            ("illegal_argument_exception", "pipeline with id [shop] does not exist"),
            ("invalid_alias_name_exception", "Invalid alias name [-a]"),
            ("cluster_block_exception", "index [a] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"),
        ])
    func `Faults of alias, pipeline and cluster pause, and the other records are judged`(type: String, reason: String) {
        let status = type == "cluster_block_exception" ? 403 : 400
        let body = """
            {"errors":true,"items":[{"create":{"status":201}},{"create":{"status":\(status),"error":{"type":"\(type)","reason":"\(reason)"}}},
            {"create":{"status":400,"error":{"type":"document_parsing_exception","reason":"[1:2] failed to parse field [n]"}}},
            {"create":{"status":400,"error":{"type":"illegal_argument_exception","reason":"Limit of total fields [1000] has been exceeded"}}},
            {"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"full"}}},{"create":{"status":409}}]}
            """
        let verdict = ElasticsearchFormat(index: "a").judge(ReceiverAnswer(status: 200, body: Data(body.utf8), records: 6))
        #expect(
            verdict
                == .each([
                    .delivered, .pause(reason: "\(type): \(reason)"),
                    .rejected(reason: "document_parsing_exception: [1:2] failed to parse field [n]"),
                    .rejected(reason: "illegal_argument_exception: Limit of total fields [1000] has been exceeded"), .retry, .delivered,
                ]))
    }
}
