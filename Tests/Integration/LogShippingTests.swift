import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Passes requests on and keeps the receiver's reports of what it received.
private final class EchoKeeper: Transport {
    private let next = URLSessionTransport()
    private let kept = Locked<[String]>([])

    var capabilities: TransportCapabilities { next.capabilities }
    var bodies: [String] { kept.withLock { $0 } }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        struct Answer: Decodable { var data: String }
        var response = try await next.send(request)
        let body = try await response.body.collect(upTo: 64 << 20)
        response.body = ResponseBody(body)
        if response.status == 200 {
            let data = try JSONDecoder().decode(Answer.self, from: body).data
            kept.withLock { $0.append(data) }
        }
        return response
    }
}

/// Keeps the records as logged.
private final class RecordKeeper: LogSink {
    let minimumLevel = LogLevel.trace
    private let kept = Locked<[LogRecord]>([])

    var records: [LogRecord] { kept.withLock { $0 } }

    func write(_ record: LogRecord) { kept.withLock { $0.append(record) } }
    func flush(within limit: Duration) async -> Bool { true }
    func shutdown(within limit: Duration) async -> Bool { true }
}

extension IntegrationTests {
    @Suite struct LogShippingTests {
        private struct Line: Decodable {
            struct Metadata: Decodable {
                var n: Int
                var text: String
                var half: Double
            }
            var id: String
            var sequence: UInt64
            var level: String
            var label: String
            var message: String
            var metadata: Metadata
            var error: String?
            var file: String
            var function: String
            var line: UInt
            var time: String

            /// Its time as read by Foundation, plus the nanoseconds that it can't represent.
            var nanoseconds: Int64 {
                get throws {
                    let parts = time.dropLast().split(separator: ".")
                    let fraction = parts.count > 1 ? parts[1].padding(toLength: 9, withPad: "0", startingAt: 0) : "0"
                    let seconds = try Date(parts[0] + "Z", strategy: .iso8601).timeIntervalSince1970
                    return Int64(seconds) * 1_000_000_000 + (Int64(fraction) ?? -1)
                }
            }
        }

        @Test func `ten thousand records arrive as they were logged`() async throws {
            let echo = EchoKeeper()
            let keeper = RecordKeeper()
            let receiver = try #require(URL(string: try TestServer.httpbin + "/post"))
            let shipper = try LogShipper(to: receiver, format: NDJSONFormat(), transport: echo) {
                $0.compression = .none  // httpbin returns compressed bodies as Base64.
                $0.batch = BatchLimits(records: 700, interval: .milliseconds(50))
            }
            let logger = RemoteLogger(label: "integration", sinks: [shipper, keeper], minimumLevel: .trace)
            let texts = HostileText.values().filter { $0.utf8.count < 1_000 }
            let levels = LogLevel.allCases
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in stride(from: task, to: 10_000, by: 4) {
                            let text = texts[number % texts.count]
                            logger.log(
                                levels[number % levels.count], "record \(number): \(text)",
                                ["n": number, "text": text, "half": Double(number) / 2],
                                error: number % 100 == 0 ? CancellationError() : nil)
                        }
                    }
                }
            }
            #expect(await logger.shutdown(within: .seconds(60)))
            #expect(shipper.statistics.delivered == 10_000)
            #expect(shipper.statistics.droppedInAll == 0)
            #expect(shipper.statistics.requests > 10)

            let logged = keeper.records
            let lines = echo.bodies.flatMap { $0.utf8.split(separator: UInt8(ascii: "\n")) }
            #expect(logged.count == 10_000)
            try #require(lines.count == logged.count)
            for (line, record) in zip(lines, logged) {
                let arrived = try JSONDecoder().decode(Line.self, from: Data(line))
                let isSame =
                    try arrived.id == record.id.description && arrived.sequence == record.sequence
                    && arrived.level == record.level.description && arrived.label == "integration"
                    && isExactly(arrived.message, record.message) && arrived.error == record.error
                    && record.metadata["n"] == .int(Int64(arrived.metadata.n)) && record.metadata["half"] == .double(arrived.metadata.half)
                    && record.source?.line == arrived.line && record.source?.file == arrived.file
                    && record.source?.function == arrived.function && arrived.nanoseconds == record.time
                #expect(isSame, "\(record.message.debugDescription) came as \(arrived.message.debugDescription)")
                guard case .string(let text) = record.metadata["text"] else {
                    throw TestServer.Missing(description: "no text in \(record)")
                }
                #expect(isExactly(arrived.metadata.text, text))
            }
            #expect(Set(logged.compactMap { $0.metadata["n"] }).count == 10_000)
        }

        @Test func `compressed bodies reach the receiver, too`() async throws {
            let echo = EchoKeeper()
            let receiver = try #require(URL(string: try TestServer.httpbin + "/post"))
            let shipper = try LogShipper(to: receiver, format: NDJSONFormat(), transport: echo)
            let logger = RemoteLogger(label: "integration", sinks: [shipper])
            for number in 0..<1_000 { logger.info("record", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(30)))
            #expect(shipper.statistics.delivered == 1_000)
            // httpbin returns binary data as a data URL: gzip begins with 1F 8B.
            #expect(echo.bodies.allSatisfy { $0.hasPrefix("data:application/octet-stream;base64,H4s") })
        }
    }
}
