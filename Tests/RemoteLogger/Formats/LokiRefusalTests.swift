import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Texts of Loki's 400 answers, as its distributor and its ingester write them.
@Suite struct LokiRefusalTests {
    private static let old =
        #"entry for stream '{app="shop", level="info"}' has timestamp too old: 2026-02-01T00:00:00Z, "#
        + "oldest acceptable timestamp is: 2026-02-22T00:00:00Z"
    private static let new = #"entry for stream '{app="shop", level="info"}' has timestamp too new: 2027-02-01T00:00:00Z"#
    private static let long =
        #"Max entry size '262144' bytes exceeded for stream '{app="shop"}' while adding an entry with length '300000' bytes"#
    private static let large =
        #"stream '{app="shop"}' has structured metadata too large: '70000' bytes, limit: '65536' bytes. "#
        + "Please see `limits_config.max_structured_metadata_size`"
    private static let behind =
        "entry with timestamp 2026-02-01 00:00:00 +0000 UTC ignored, reason: 'entry too far behind, "
        + "oldest acceptable timestamp is: 2026-02-22T00:00:00Z',\n"
    private static let before =
        "entry with timestamp 2021-11-08 03:30:43 +0000 UTC ignored, reason: 'entry too far behind' for stream: {a=\"b\"},\n"
        + "total ignored: 1 out of 1"

    private func verdict(_ text: String, records: Int = 10) -> DeliveryVerdict {
        LokiFormat(labels: ["app": "shop"]).judge(ReceiverAnswer(status: 400, body: Data(text.utf8), records: records))
    }

    @Test(
        arguments: [
            ("2 errors like: \(old)", 2), ("\(old)", 1), ("\(old)\n", 1), ("1 errors like: \(old); 1 errors like: \(new)", 2),
            ("3 errors like: \(long); 2 errors like: \(old)", 5), ("10 errors like: \(large)", 10), ("\(long)", 1), ("\(large)", 1),
            ("\(new)", 1),
            ("2 errors: \(old); \(new)", 2),
            ("rpc error: code = Code(400) desc = 4 errors like: \(old)", 4),
            (behind + #"user 'fake', total ignored: 3 out of 7 for stream: {app="shop"}"#, 3),
            (behind + behind + #"user 'fake', total ignored: 7 out of 7 for stream: {app="shop"}"#, 7),
            (before, 1),
            (behind + behind, 2), (behind, 1),
            ("1 errors like: \(old.replacing("shop", with: "x; 5 errors like y")); 2 errors like: \(new)", 3),
        ])
    func `only what was refused is counted`(text: String, count: Int) {
        guard case .partiallyRejected(count, _) = verdict(text) else {
            Issue.record("\(verdict(text)): \(text)")
            return
        }
    }

    /// Loki ignores lines that it already has, so that isolating the rejected one makes no duplicates.
    @Test(
        arguments: [
            "", "Bad Request", "<html>400</html>", "11 errors like: \(old)", "99999999999999999999 errors like: \(old)",
            "loghttp.PushRequest.Streams: unmarshalerDecoder: Value looks like object", "0 errors like: x", "errors like: \(old)",
            "total ignored: 11 out of 7", "total ignored: x out of 7", "some errors like: 3 errors like: x",
        ])
    func `what can't be understood is looked for`(text: String) {
        guard case .isolate = verdict(text) else {
            Issue.record("\(verdict(text)): \(text)")
            return
        }
    }

    @Test(
        arguments: [
            #"entry for stream '{a="b"}' has 16 label names; limit 15"#, #"stream '{a="b"}' has label name too long: 'x'"#,
            #"stream '{a="b"}' has label value too long: 'x'"#, "error at least one label pair is required per stream",
            "at least one valid label pair is required for ingestion",
            "missing required labels [team] for user shop for stream {}", #"Error parsing labels '{a' with error: unexpected"#,
            "ingestion blocked for user shop until '2026-03-01' with status code '400'",
            #"2 errors like: stream '{a="b"}' includes structured metadata, but this feature is disallowed. Please see"#,
        ])
    func `refused labels are a matter of the settings`(text: String) {
        guard case .pause = verdict(text) else {
            Issue.record("\(verdict(text)): \(text)")
            return
        }
    }

    @Test func `A 260 stores nothing, although it isn't an error of HTTP`() {
        let text = "ingestion blocked for user shop until '2026-03-01T00:00:00Z' with status code '260'"
        let answer = ReceiverAnswer(status: 260, body: Data(text.utf8), records: 3)
        #expect(LokiFormat(labels: ["app": "shop"]).judge(answer) == .pause(reason: text))
        for status in [200, 204] {
            #expect(LokiFormat(labels: ["app": "shop"]).judge(ReceiverAnswer(status: status, records: 3)) == .delivered())
        }
    }

    @Test func `thousands of reasons are added up`() {
        let text = (0..<5_000).map { "1 errors like: \(Self.old)\($0)" }.joined(separator: "; ")
        guard case .partiallyRejected(5_000, _) = verdict(text, records: 6_000) else {
            Issue.record("\(verdict(text, records: 6_000))")
            return
        }
    }

    @Test func `the others count as delivered`() async throws {
        let receiver = StubReceiver([.status(400, body: "2 errors like: \(Self.old)")])
        let harness = try Harness(receiver, format: LokiFormat(labels: ["app": "shop"]))
        for number in 0..<10 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let counts = harness.shipper.statistics
        #expect(counts.delivered == 8 && counts.dropped == [.rejected: 2] && counts.requests == 1)
        harness.expectConservation()
    }
}
