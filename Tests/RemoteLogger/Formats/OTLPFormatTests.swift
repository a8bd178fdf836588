import Foundation
import RemoteLogger
import TestSupport
import Testing

@Suite struct OTLPFormatTests {
    @Test func `a record is written as the protocol says`() throws {
        let record = LogRecord.sample(
            7, .critical, "Hello",
            metadata: ["n": 5, "ok": true, "x": 0.5, "list": [1, 2], "map": ["k": "v"], "data": Data([1]), "none": LogValue.null],
            error: "gone", trace: TraceContext(traceID: "4bf92f3577b34da6a3ce929d0e0e4736", spanID: "00f067aa0ba902b7", flags: 1),
            source: LogSource(file: "Shop/Orders.swift", function: "place()", line: 42))
        let body = try OTLPFormat(resource: ["service.name": "shop"], scopeVersion: "1").encode([record])
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"#
                + #""scopeLogs":[{"scope":{"name":"test","version":"1"},"logRecords":["#
                + #"{"timeUnixNano":"1772357400123456789","observedTimeUnixNano":"1772357400123456789","severityNumber":18,"#
                + #""severityText":"critical","body":{"stringValue":"Hello"},"attributes":["#
                + #"{"key":"log.record.uid","value":{"stringValue":"00000000000000ab0000000000000007"}},"#
                + #"{"key":"log.record.sequence","value":{"intValue":"7"}},"#
                + #"{"key":"exception.message","value":{"stringValue":"gone"}},"#
                + #"{"key":"code.file.path","value":{"stringValue":"Shop/Orders.swift"}},"#
                + #"{"key":"code.function.name","value":{"stringValue":"place()"}},"#
                + #"{"key":"code.line.number","value":{"intValue":"42"}},"#
                + #"{"key":"n","value":{"intValue":"5"}},{"key":"ok","value":{"boolValue":true}},{"key":"x","value":{"doubleValue":0.5}},"#
                + #"{"key":"list","value":{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}},"#
                + #"{"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}},"#
                + #"{"key":"data","value":{"bytesValue":"AQ=="}},{"key":"none","value":{}}],"#
                + #""flags":1,"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"}]}]}]}"#)
    }

    @Test func `attributes that have no place are counted`() throws {
        var metadata: LogMetadata = ["log.record.uid": "mine", "ok": 1]
        for number in 0..<200 { metadata["k\(number)"] = .int(Int64(number)) }
        let body = try OTLPFormat().encode([.sample(metadata: metadata)])
        let record = try #require(try records(in: body).first)
        #expect((record["attributes"] as? [Any])?.count == 128)
        // Of 202 names 126 fit, in addition to the record's own two.
        #expect(record["droppedAttributesCount"] as? Int == 76)
    }

    @Test func `records of one label stand in one scope, in order`() throws {
        let body = try OTLPFormat().encode((1...6).map { .sample($0, label: $0 % 2 == 0 ? "even" : "odd") })
        let scopes = try self.scopes(in: body)
        #expect(scopes.map { ($0["scope"] as? [String: Any])?["name"] as? String } == ["odd", "even"])
        #expect(scopes.map { ($0["logRecords"] as? [Any])?.count } == [3, 3])
    }

    @Test(
        "the strict checker finds no fault in random records",
        // The checker isn't part of the project: SHARED_DIRECTORY names its folder, and without it the test is skipped.
        .enabled("needs SHARED_DIRECTORY and python3") { if Tool.sharedDirectory == nil { false } else { await Tool.exists("python3") } })
    func checker() async throws {
        let tool = try #require(Tool.sharedDirectory).appending(path: "tools/otlp-json-check").path(percentEncoded: false)
        var generator = SeededGenerator(seed: 4)
        var lines = Data()
        for batch in 0..<100 {
            let records = (0..<100).map { LogRecord.random(UInt64(batch * 100 + $0), using: &generator) }
            lines.append(try OTLPFormat(resource: ["service.name": "shop", "host.cpus": 2]).encode(records))
            lines.append(UInt8(ascii: "\n"))
        }
        var deep = LogValue.int(1)
        for level in 0..<100 { deep = level % 2 == 0 ? .array([deep]) : ["a": deep] }
        lines.append(try OTLPFormat().encode([.sample(metadata: ["deep": deep])]))
        // JUDGE_PYTHON names a Python with the judges' packages and enables the protobuf half of the checks, which then fails without the
        // package.
        let judges = ProcessInfo.processInfo.environment["JUDGE_PYTHON"]
        let arguments = [judges ?? "python3", tool, "--quiet", "--lines"] + (judges == nil ? [] : ["--need-proto"])
        let result = try await ChildProcess.run(arguments, input: lines)
        #expect(result.status == 0, "\(result.text.prefix(2_000))")
    }

    @Test(
        arguments: [
            (200, "", .delivered()), (200, "{}", .delivered()), (200, "no JSON", .delivered()), (204, "", .delivered()),
            (200, #"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"old"}}"#, .partiallyRejected(records: 2, reason: "old")),
            (200, #"{"partialSuccess":{"rejectedLogRecords":99}}"#, .partiallyRejected(records: 5, reason: "")),
            (200, #"{"partialSuccess":{"rejectedLogRecords":"0","errorMessage":"slow down"}}"#, .delivered(remark: "slow down")),
            (200, #"{"partialSuccess":{"rejectedLogRecords":"-3"}}"#, .delivered()),
            (
                200, #"{"partial_success":{"rejected_log_records":"2","error_message":"old"}}"#,
                .partiallyRejected(records: 2, reason: "old")
            ),
            (200, #"{"partial_success":{"rejected_log_records":1}}"#, .partiallyRejected(records: 1, reason: "")),
            (200, #"{"partialSuccess":{"rejectedLogRecords":"99999999999999999999"}}"#, .partiallyRejected(records: 5, reason: "")),
            (200, #"{"partialSuccess":{"rejectedLogRecords":1e30}}"#, .partiallyRejected(records: 5, reason: "")),
            (200, #"{"partialSuccess":{}}"#, .delivered()), (200, #"{"partialSuccess":null}"#, .delivered()),
            (429, "", .retry), (502, "", .retry), (503, "", .retry), (504, "", .retry), (413, "", .split),
            (500, "", .reject(reason: "")), (408, "", .reject(reason: "")), (400, #"{"message":"bad id"}"#, .isolate(reason: "bad id")),
            (404, "nothing\nhere", .pause(reason: "nothing here")), (401, "", .pause(reason: "")), (403, "", .pause(reason: "")),
            (302, "", .pause(reason: "")),
        ] as [(Int, String, DeliveryVerdict)])
    func `answers are judged by the protocol`(status: Int, body: String, verdict: DeliveryVerdict) {
        #expect(OTLPFormat().judge(ReceiverAnswer(status: status, body: Data(body.utf8), records: 5)) == verdict)
    }

    @Test(arguments: [200, 400, 401, 500]) func `a reason is one short line without secrets`(status: Int) throws {
        let text = "bad \u{1B}[2J\npassword=hunter2\n" + String(repeating: "x", count: 3 << 20)
        let partial = ["rejectedLogRecords": "1", "errorMessage": text]
        let answer: [String: Any] = status == 200 ? ["partialSuccess": partial] : ["message": text]
        let body = try JSONSerialization.data(withJSONObject: answer)
        let reason: String
        switch OTLPFormat().judge(ReceiverAnswer(status: status, body: body, records: 5)) {
        case .partiallyRejected(_, let text), .isolate(let text), .pause(let text), .reject(let text): reason = text
        default: reason = ""
        }
        #expect(reason.hasPrefix("bad \\u{1B}[2J password="), "\(reason.prefix(500))")
        #expect(!reason.contains("hunter2") && reason.count < 300 && !reason.contains("\n"), "\(reason.prefix(500))")
    }

    @Test func `the collector's URL gets the path of logs`() throws {
        let base = try #require(URL(string: "http://localhost:4318"))
        #expect(OTLPFormat.logsURL(ofCollector: base).absoluteString == "http://localhost:4318/v1/logs")
    }

    private func scopes(in body: Data) throws -> [[String: Any]] {
        let request = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let resource = try #require((request["resourceLogs"] as? [[String: Any]])?.first)
        return try #require(resource["scopeLogs"] as? [[String: Any]])
    }

    private func records(in body: Data) throws -> [[String: Any]] {
        try scopes(in: body).flatMap { $0["logRecords"] as? [[String: Any]] ?? [] }
    }
}
