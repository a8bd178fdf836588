import Testing
import WebServiceClient

@testable import RemoteLogger

/// A thousand shippers whose receiver is unreachable for an hour. With a manual clock this takes no real time.
@Suite struct RetryFairnessTests {
    private static let clients = 1_000
    /// In hundredths of a second.
    private static let minute = 6_000
    private static let hour = 60 * minute

    /// Returns the times at which each client tries an unreachable receiver, in hundredths of a second since the outage reached them all.
    private func attempts() async throws -> [[Int]] {
        let clock = ManualLogClock()
        var settings = ShippingSettings()
        settings.clock = clock
        let paces = (0..<Self.clients).map { _ in ReceiverPace(settings: settings) }
        var attempts = [[Int]](repeating: [], count: Self.clients)
        var due = [[Int]](repeating: [], count: Self.hour + Self.minute)
        due[0] = Array(0..<Self.clients)
        for time in due.indices {
            for client in due[time] {
                let turn = try #require(await paces[client].begin(1))
                let wait = try #require(paces[client].noteFailure(of: turn, retryAfter: nil))
                paces[client].end(turn, isAnswered: false)
                attempts[client].append(time)
                let next = time + max(1, Int((wait / .milliseconds(10)).rounded(.up)))
                if due.indices.contains(next) { due[next].append(client) }
            }
            clock.advance(by: .milliseconds(10))
        }
        return attempts
    }

    @Test func `whenever a receiver comes back, a thousand clients do so one by one, and seldom ask before`() async throws {
        let attempts = try await attempts()
        for times in attempts {
            let asked = times.count { $0 < Self.hour }
            #expect(asked <= 120, "more than once in 30 seconds")
        }
        // The outage may end at any minute from the fifth on. For a single end, one or two clients arrive per tenth of
        // a second, and half a dozen may coincide by chance, so the ends are added up.
        var arrivals = [Int](repeating: 0, count: 600)
        for times in attempts {
            var index = 0
            for end in stride(from: 5 * Self.minute, to: Self.hour, by: Self.minute) {
                while index < times.count, times[index] < end { index += 1 }
                if index < times.count, times[index] < end + Self.minute { arrivals[(times[index] - end) / 10] += 1 }
            }
        }
        let mean = Double(arrivals.reduce(0, +)) / Double(arrivals.count)
        let peak = try #require(arrivals.max())
        #expect(mean > 50)
        #expect(Double(peak) <= 3 * mean, "\(peak) in a tenth of a second, \(mean) on average")
    }
}
