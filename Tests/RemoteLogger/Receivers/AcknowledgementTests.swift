import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Splunk's acknowledgements: the address of queries, and the handling of failed ones.
@Suite struct AcknowledgementTests {
    @Test(
        arguments: [
            ("/services/collector", "/services/collector/ack"), ("/services/collector/", "/services/collector/ack"),
            ("/services/collector/event", "/services/collector/ack"), ("/services/collector/event/", "/services/collector/ack"),
            ("/services/collector/event/1.0", "/services/collector/ack"), ("/services/collector/event/1.0/", "/services/collector/ack"),
            ("/services/collector/raw", "/services/collector/ack"), ("/services/collector/raw/1.0", "/services/collector/ack"),
            ("/services/collector//event//", "/services/collector/ack"), ("/services/collector/mint/1.0", "/services/collector/ack"),
            ("/splunk/services/collector/event/1.0", "/splunk/services/collector/ack"),
            ("/a/b/services/collector", "/a/b/services/collector/ack"),
            ("/services/collector/services/collector/event", "/services/collector/services/collector/ack"),
            ("/a%20b/services/collector/raw/", "/a%20b/services/collector/ack"),
            ("/collector/services/collector/event", "/collector/services/collector/ack"),
            ("/hec", "/hec/ack"), ("/hec/event", "/hec/ack"), ("/hec/event/1.0", "/hec/ack"), ("/hec/raw/", "/hec/ack"), ("/", "/ack"),
            ("", "/ack"),
            ("/event", "/ack"),
        ])
    func `every path of the collector leads to its acknowledgements`(path: String, expected: String) throws {
        let endpoint = try #require(URL(string: "https://splunk.example:8088\(path)"))
        let query = SplunkFormat(acknowledges: true).acknowledgementQuery(for: ["1", "2"], endpoint: endpoint)
        #expect(query.url.path(percentEncoded: true) == expected)
        #expect(query.url.scheme == "https" && query.url.host() == "splunk.example" && query.url.port == 8_088)
        #expect(String(decoding: query.body, as: UTF8.self) == #"{"acks":[1,2]}"#)
    }

    @Test func `the query of the endpoint goes along`() throws {
        let format = SplunkFormat(acknowledges: true)
        let endpoint = try #require(URL(string: "https://h/services/collector/event?token=a%2Bb&index=main#x"))
        let own = format.acknowledgementQuery(for: ["1"], endpoint: endpoint).url.absoluteString
        #expect(own == "https://h/services/collector/ack?token=a%2Bb&index=main&channel=\(format.channel.uuidString)")
        let given = try #require(URL(string: "https://h/services/collector/?channel=C"))
        #expect(format.acknowledgementQuery(for: ["1"], endpoint: given).url.absoluteString == "https://h/services/collector/ack?channel=C")
    }

    /// Creates a collector that accepts events and answers queries by the script.
    private func harness(
        _ answer: @escaping @Sendable (_ number: Int, _ ids: [String]) -> StubReceiver.Reply
    ) throws -> (Harness, sent: Locked<Int>) {
        let (sent, asked) = (Locked(0), Locked(0))
        let receiver = StubReceiver { _, request in
            guard request.url.path().hasSuffix("/ack") else {
                return .status(200, body: "{\"ackId\":\(sent.withLock { $0 += 1; return $0 })}")
            }
            let ids = String(decoding: request.body?.data ?? Data(), as: UTF8.self).split { !$0.isNumber }.map(String.init)
            return answer(
                asked.withLock {
                    $0 += 1; return $0 - 1
                }, ids)
        }
        return (try Harness(receiver, format: SplunkFormat(acknowledges: true)), sent)
    }

    private static func yes(_ ids: [String]) -> StubReceiver.Reply {
        .status(200, body: "{\"acks\":{\(ids.map { "\"\($0)\":true" }.joined(separator: ","))}}")
    }

    @Test(arguments: [404, 405, 401, 403, 400, 410, 301, 308, 501, 415, 421])
    func `a collector that refuses to be asked pauses, and gets nothing twice`(status: Int) async throws {
        let (harness, sent) = try harness { number, ids in number < 50 ? .status(status, body: "no such thing") : Self.yes(ids) }
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.clock.run(step: .seconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(harness.shipper.statistics.lastStatus == status)
        #expect(
            await eventually {
                harness.events.withLock { events in
                    events.contains { $0.message.contains("status \(status)") && $0.message.contains("acknowledgements") }
                }
            })
        // Some hours.
        #expect(await harness.clock.run(step: .seconds(60)) { harness.shipper.statistics.delivered == 5 })
        #expect(sent.withLock { $0 } == 1 && harness.shipper.statistics.repeats == 0)
        #expect(harness.shipper.statistics.nextAttempt == nil)
        #expect(harness.events.withLock { $0.map(\.level) } == [.warning, .notice], "told once each")
        harness.expectConservation()
    }

    @Test(arguments: [429, 500, 503, 0]) func `a collector that can't be asked now isn't sent the batch again`(status: Int) async throws {
        let (harness, sent) = try harness { number, ids in number < 40 ? status == 0 ? .broken : .status(status) : Self.yes(ids) }
        harness.logger.info("m")
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 1 })
        #expect(sent.withLock { $0 } == 1 && harness.shipper.statistics.repeats == 0)
        harness.expectConservation()
    }

    @Test func `what is never acknowledged is sent more and more rarely`() async throws {
        let (harness, sent) = try harness { _, ids in
            .status(200, body: "{\"acks\":{\(ids.map { "\"\($0)\":false" }.joined(separator: ","))}}")
        }
        harness.logger.info("m")
        #expect(await harness.clock.run { sent.withLock { $0 } == 1 })
        // Timeouts of 5, 10 and 20 minutes: three attempts in the first half hour, and then one after 40.
        for _ in 0..<110 {
            await settle()
            harness.clock.advance(by: .seconds(20))
        }
        await settle()
        let count = sent.withLock { $0 }
        #expect(count >= 2 && count <= 4 && harness.shipper.statistics.buffered == 1)
        harness.expectConservation()
    }
}
