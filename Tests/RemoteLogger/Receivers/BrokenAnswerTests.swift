import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Responses with a status but an incomplete body.
@Suite struct BrokenAnswerTests {
    /// Answers 200 with bodies that break off after a while, then with complete ones.
    private struct Breaking: Transport {
        let broken: Int
        let piece: Data
        /// Whether the body is endless instead of breaking off.
        var isEndless = false
        let whole: String
        let bodies = Locked<[Data]>([])
        var capabilities: TransportCapabilities { [] }

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            let number = bodies.withLock { bodies in
                bodies.append(request.body?.data ?? Data())
                return bodies.count
            }
            guard number <= broken else {
                return TransportResponse(status: 200, headers: [:], url: request.url, body: ResponseBody(Data(whole.utf8)))
            }
            let isBegun = Locked(false)
            let (piece, isEndless) = (piece, isEndless)
            let body = ResponseBody(
                expectedLength: nil,
                next: {
                    let isFirst = isBegun.withLock { isBegun in
                        defer { isBegun = true }
                        return !isBegun
                    }
                    guard isFirst || isEndless else { throw TransportError(.connectionLost, "The connection broke.") }
                    return piece
                }, cancel: {})
            return TransportResponse(status: 200, headers: [:], url: request.url, body: body)
        }
    }

    private func ship(_ transport: Breaking, _ format: any LogFormat) async throws -> LogStatistics {
        let harness = try Harness(transport: transport, format: format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        async let flushed = harness.shipper.flush(within: .seconds(3_600))
        // Less than a pause takes.
        for _ in 0..<240 where harness.shipper.statistics.delivered < 5 {
            harness.clock.advance(by: .seconds(1))
            await settle()
        }
        harness.expectConservation()
        let counts = harness.shipper.statistics
        await harness.shipper.shutdown(within: .zero)
        _ = await flushed
        return counts
    }

    @Test func `Elasticsearch gets the same bytes again when its answer breaks off`() async throws {
        let transport = Breaking(broken: 2, piece: Data(#"{"errors":false,"it"#.utf8), whole: #"{"errors":false}"#)
        let counts = try await ship(transport, ElasticsearchFormat(index: "logs"))
        #expect(counts.delivered == 5 && counts.dropped.isEmpty)
        #expect(transport.bodies.withLock { $0.count } == 3 && Set(transport.bodies.withLock { $0 }).count == 1)
    }

    @Test func `Splunk with acknowledgement gets the same bytes again when its answer breaks off`() async throws {
        let transport = Breaking(broken: 1, piece: Data(#"{"text":"Suc"#.utf8), whole: #"{"code":0,"ackId":7,"acks":{"7":true}}"#)
        let counts = try await ship(transport, SplunkFormat(acknowledges: true))
        #expect(counts.delivered == 5 && counts.dropped.isEmpty)
        let bodies = transport.bodies.withLock { $0 }
        #expect(bodies.count == 3 && bodies[0] == bodies[1], "the batch twice, and the question")
    }

    @Test func `who doesn't need the body has the batch delivered`() async throws {
        for format in [NDJSONFormat(), OTLPFormat(), SplunkFormat()] as [any LogFormat] {
            let transport = Breaking(broken: 1, piece: Data("{".utf8), whole: "")
            let counts = try await ship(transport, format)
            #expect(counts.delivered == 5 && counts.requests == 1)
        }
    }

    @Test func `an answer of Elasticsearch above 4 MiB is asked for in halves`() async throws {
        let transport = Breaking(broken: 1, piece: Data(repeating: 0x20, count: 1 << 20), isEndless: true, whole: #"{"errors":false}"#)
        let counts = try await ship(transport, ElasticsearchFormat(index: "logs"))
        #expect(counts.delivered == 5 && counts.dropped.isEmpty && counts.requests == 3)
    }

    @Test(arguments: ["", #"{"errors":fal"#]) func `an answer that is cut where nobody noticed drops nothing`(text: String) {
        let verdict = ElasticsearchFormat(index: "logs").judge(ReceiverAnswer(status: 200, body: Data(text.utf8), records: 3))
        #expect(verdict == .retry)
    }

    @Test func `an answer that isn't Elasticsearch's pauses`() {
        let verdict = ElasticsearchFormat(index: "logs").judge(ReceiverAnswer(status: 200, body: Data("<html>".utf8), records: 3))
        #expect(verdict == .pause(reason: "its answer can't be read: <html>"))
    }
}
