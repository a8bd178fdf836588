import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct ElasticsearchFormatTests {
    private static func answer(_ statuses: [(Int, String)]) -> String {
        let items = statuses.map { status, type in
            status < 300
                ? #"{"create":{"status":\#(status)}}"#
                : #"{"create":{"status":\#(status),"error":{"type":"\#(type)","reason":"r"}}}"#
        }
        return "{\"errors\":true,\"items\":[\(items.joined(separator: ","))]}"
    }

    private static func messages(of body: Data) -> [String] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? JSONSerialization.jsonObject(with: line) as? [String: Any])?["message"] as? String
        }
    }

    @Test(arguments: [(401, "security_exception"), (403, "security_exception"), (403, "cluster_block_exception")])
    func `items that the settings keep out stay and pause, the others are settled`(status: Int, type: String) async throws {
        let mixed = Self.answer([(201, ""), (status, type), (400, "document_parsing_exception"), (status, type), (429, "full")])
        let receiver = StubReceiver([.status(200, body: mixed), .status(200, body: #"{"errors":false}"#)])
        let harness = try Harness(receiver, format: ElasticsearchFormat(index: "logs"))
        for number in 0..<5 { harness.logger.info("m\(number)") }
        async let flushed = harness.shipper.flush(within: .seconds(36_000))
        #expect(await eventually { harness.shipper.statistics.nextAttempt == .seconds(300) })
        harness.expectConservation()
        #expect(await eventually { (harness.clock.nextWake ?? .zero) == .seconds(300) })
        harness.clock.advance(by: .seconds(299))
        await settle()
        #expect(receiver.requests.count == 1, "a flush doesn't end the pause")
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 4 })
        #expect(await flushed == false)
        #expect(receiver.bodies.map(Self.messages) == [["m0", "m1", "m2", "m3", "m4"], ["m1", "m3", "m4"]])
        #expect(harness.shipper.statistics.dropped == [.rejected: 1])
        let said = harness.events.withLock { $0.map(\.message) }
        #expect(said.contains { $0.contains("check the URL and the credentials") && $0.contains(type) })
        harness.expectConservation()
    }

    @Test func `a pause that repeats is told once`() async throws {
        let blocked = Self.answer([(403, "cluster_block_exception")])
        let receiver = StubReceiver { number, _ in .status(200, body: number < 4 ? blocked : #"{"errors":false}"#) }
        let harness = try Harness(receiver, format: ElasticsearchFormat(index: "logs")) { $0.batch.records = 1 }
        harness.logger.info("m")
        #expect(await harness.clock.run(step: .seconds(5)) { harness.shipper.statistics.delivered == 1 })
        #expect(harness.events.withLock { $0.map(\.level) } == [.warning, .notice])
        #expect(receiver.requests.count == 5)
    }

    @Test func `names of metadata that Elasticsearch refuses are written as ones that it takes`() throws {
        let nested: LogMetadata = ["": 1, " ": 2, "in.ner": 3]
        let metadata: LogMetadata = [
            "a..b": 1, ".a": 2, ".": 3, "": 4, "b.": 5, "ok.fine": 6, "nested": nested, "list": LogValue.array([.dictionary([".x": 1])]),
        ]
        let body = try ElasticsearchFormat(index: "logs").encode([.sample(metadata: metadata)])
        let line = try #require(body.split(separator: UInt8(ascii: "\n")).last)
        let document = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        let written = try #require(document["metadata"] as? [String: Any])
        func check(_ object: [String: Any]) {
            for (name, value) in object {
                let parts = name.split(separator: ".", omittingEmptySubsequences: false)
                #expect(parts.allSatisfy { !$0.allSatisfy(\.isWhitespace) }, "\(name)")
                if let inner = value as? [String: Any] { check(inner) }
                for element in value as? [Any] ?? [] { if let inner = element as? [String: Any] { check(inner) } }
            }
        }
        check(written)
        #expect(written.count == metadata.count && (written["nested"] as? [String: Any])?.count == 3, "none is lost: \(written)")
        #expect(written["ok.fine"] as? Int == 6 && written["a._.b"] as? Int == 1 && written["_.a"] as? Int == 2)
    }
}
