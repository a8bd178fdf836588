import Foundation
import RemoteLogger
import TestSupport
import WebServiceClient
import WebServiceTesting

/// A receiver of log records over real HTTP with temporary failures: it is busy, limits the rate, breaks connections before and after
/// storing, and refuses oversized bodies. Its `take` function stores the records and checks the requests.
final class ScriptedReceiver: Sendable {
    /// The final state.
    struct State: Sendable {
        /// The IDs of the records, in the order in which they were stored.
        var stored: [String] = []
        /// The IDs of the permanently refused records.
        var refused: Set<String> = []
        /// Deviations of requests from the receiver's documentation.
        var violations: [String] = []
        /// Counters for the receiver's own use.
        var notes: [String: Int] = [:]
        var requests = 0
        var moods: SeededGenerator

        init(seed: UInt64) {
            moods = SeededGenerator(seed: seed)
        }
    }

    let state: Locked<State>
    let server: LoopbackServer

    /// - Parameters:
    ///   - bodyLimit: The maximum size of a body in bytes; larger ones are answered by 413.
    ///   - take: Handles a request as the receiver does without failures.
    init(
        seed: UInt64, bodyLimit: Int = 1 << 20, isMoody: Bool = true,
        take: @escaping @Sendable (LoopbackRequest, inout State) -> LoopbackResponse
    ) throws {
        let state = Locked(State(seed: seed))
        self.state = state
        server = try LoopbackServer { routes in
            routes.fallback { request in
                state.withLock { state in
                    state.requests += 1
                    guard request.body.count <= bodyLimit else { return .status(413) }
                    switch isMoody ? Int.random(in: 0..<12, using: &state.moods) : 11 {
                    case 0: return .status(503)
                    case 1: return .status(429).with("Retry-After", "0")
                    case 2: return .drop
                    case 3:
                        _ = take(request, &state)
                        return .drop
                    case 4:
                        var response = take(request, &state)
                        response.closesConnection = true
                        return response
                    default: return take(request, &state)
                    }
                }
            }
        }
    }

    /// Ships records of all levels to the receiver, and waits until all are settled.
    ///
    /// - Returns: The shipper, the IDs of the records marked as poison, and those of the others.
    func ship(
        _ count: Int, to path: String, format: any LogFormat, deadLetters: DeadLetters? = nil, poisonEvery: Int = 0,
        configure: (inout ShippingSettings) -> Void = { _ in }
    ) async throws -> (counts: LogStatistics, sound: [String], poison: Set<String>) {
        let keeper = CollectingSink()
        let shipper = try LogShipper(to: server.url(path), format: format) { settings in
            settings.compression = .none
            settings.batch = BatchLimits(records: 64, interval: .milliseconds(5))
            settings.backoff = Backoff(base: .milliseconds(1), cap: .milliseconds(4))
            settings.pause = .milliseconds(20)
            settings.deadLetters = deadLetters
            settings.reportsLosses = false
            configure(&settings)
        }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper, keeper], minimumLevel: .trace)
        let trace = TraceContext(traceHigh: 7, traceLow: 8, span: 9, flags: 1)
        for number in 0..<count {
            let isPoison = poisonEvery > 0 && number % poisonEvery == poisonEvery / 2
            logger.with(trace: number % 3 == 0 ? trace : nil).log(
                LogLevel.allCases[number % 7], "message \(number) \"Ω\"\n🦊",
                [
                    "n": number, "half": Double(number) / 2, "ok": true, "none": nil as String?, "poison": isPoison, "list": [1, 2],
                    "nested": ["a b": ["c]": "d\\\"e"] as LogMetadata] as LogMetadata, "when": Date(timeIntervalSince1970: 1_772_357_400),
                ], error: number % 10 == 0 ? CancellationError() : nil)
            if number % 50 == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        let isDone = await shipper.flush(within: .seconds(300))
        _ = isDone
        let counts = shipper.statistics
        await shipper.shutdown(within: .seconds(1))
        let records = keeper.records
        let poison = Set(records.filter { $0.metadata["poison"] == .bool(true) }.map(\.id.description))
        return (counts, records.map(\.id.description).filter { !poison.contains($0) }, poison)
    }
}

extension ScriptedReceiver.State {
    mutating func require(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, violations.count < 20 { violations.append(message()) }
    }

    /// Parses JSON, or notes a violation.
    mutating func object(_ data: Data) -> [String: Any] {
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            violations.append("no object: \(String(decoding: data.prefix(200), as: UTF8.self))")
            return [:]
        }
        return object
    }
}
