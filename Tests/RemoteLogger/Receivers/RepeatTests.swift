import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Ten thousand times the receiver stores a batch, and the connection breaks before the response. `Tests/Integration/stress shipping` does
/// the same over real connections.
@Suite(.serialized) struct RepeatTests {
    /// Several shippers in parallel, because each waits for its own repeats.
    private static let (shippers, records) = (10, 1_000)

    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func `what is stored before the connection breaks isn't stored twice`(
        isLoki: Bool
    ) async throws {
        let stored = Locked<[String: Int]>([:])
        let (counts, isDone) = try await withThrowingTaskGroup(of: (LogStatistics, Bool).self) { group in
            for number in 0..<Self.shippers {
                let receiver = StubReceiver { _, request in
                    let entries = isLoki ? Self.lines(request.body?.data ?? Data()) : Self.documents(request.body?.data ?? Data())
                    let isNew = stored.withLock { stored in
                        entries.reduce(false) { isNew, entry in
                            stored[entry, default: 0] += 1
                            return isNew || stored[entry] == 1
                        }
                    }
                    if entries.isEmpty { return .status(404) }
                    if isNew { return .broken }
                    let items = entries.map { _ in #"{"create":{"status":409}}"# }.joined(separator: ",")
                    return isLoki ? .status(204) : .status(200, body: #"{"errors":true,"items":[\#(items)]}"#)
                }
                let format: any LogFormat = isLoki ? LokiFormat(labels: ["app": "shop"]) : ElasticsearchFormat(index: "logs")
                let shipper = try LogShipper(to: Harness.endpoint(), format: format, transport: receiver) { settings in
                    settings.compression = .none
                    settings.batch = BatchLimits(records: 1, interval: .milliseconds(1))
                    settings.backoff = Backoff(base: .microseconds(100), cap: .microseconds(200))
                }
                let logger = RemoteLogger(label: "test", sinks: [shipper])
                group.addTask {
                    for record in 0..<Self.records { logger.info("once", ["number": "\(number)-\(record)"]) }
                    let isDone = await logger.shutdown(within: .seconds(300))
                    return (shipper.statistics, isDone)
                }
            }
            var sum = (delivered: UInt64(0), dropped: UInt64(0))
            var isDone = true
            for try await (counts, hasDone) in group {
                sum.delivered += counts.delivered
                sum.dropped += counts.droppedInAll
                isDone = isDone && hasDone
            }
            return (sum, isDone)
        }
        let trials = Self.shippers * Self.records
        #expect(isDone && counts.delivered == UInt64(trials) && counts.dropped == 0, "\(counts)")
        // Each came twice, unchanged.
        #expect(stored.withLock { $0.count } == trials && stored.withLock { $0.values.allSatisfy { $0 == 2 } })
    }

    /// Elasticsearch identifies documents by their IDs.
    private static func documents(_ body: Data) -> [String] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let action = (try? JSONSerialization.jsonObject(with: line) as? [String: Any])?["create"] as? [String: Any]
            return action?["_id"] as? String
        }
    }

    /// Loki identifies lines by stream, time, text and metadata.
    private static func lines(_ body: Data) -> [String] {
        let push = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        var lines: [String] = []
        for stream in push?["streams"] as? [[String: Any]] ?? [] {
            let labels = (stream["stream"] as? [String: String] ?? [:]).sorted { $0.key < $1.key }
            for value in stream["values"] as? [[Any]] ?? [] where value.count == 3 {
                let metadata = (value[2] as? [String: String] ?? [:]).sorted { $0.key < $1.key }
                lines.append("\(labels)|\(value[0])|\(value[1])|\(metadata)")
            }
        }
        return lines
    }
}
