import Testing
import WebServiceClient

@testable import RemoteLogger

/// A thousand shippers, whose receiver is away for an hour: none of it takes time, since the clock is told what it is.
@Suite struct RetryFairnessTests {
    private static let clients = 1_000
    /// In hundredths of a second.
    private static let minute = 6_000
    private static let hour = 60 * minute

    /// When each client asks a receiver that takes nothing, in hundredths of a second from the moment when all of them meet the outage.
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
        // The outage may end with any minute from the fifth on. Of a single end there are one or two clients in a tenth of a second, where chance
        // alone makes half a dozen of them meet: the ends are added up.
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
