/// Measures contenders in alternation, round by round, so that other load on the machine affects all of them alike.
struct Rounds {
    struct Contender {
        let name: String
        let run: () async throws -> Void
    }

    let count: Int
    let repetitions: Int

    /// The median times in milliseconds, and the median ratios to the first contender within each round.
    func medians(of contenders: [Contender]) async throws -> [(time: Double, ratio: Double)] {
        var times = contenders.map { _ in [Double]() }
        for round in 0...count {
            for offset in contenders.indices {
                let index = (round + offset) % contenders.count
                let start = ContinuousClock.now
                for _ in 0..<repetitions { try await contenders[index].run() }
                let (seconds, attoseconds) = (ContinuousClock.now - start).components
                // The first round warms up.
                if round > 0 { times[index].append((Double(seconds) * 1e3 + Double(attoseconds) / 1e15) / Double(repetitions)) }
            }
        }
        return times.map { own in (median(own), median(zip(times[0], own).map { $0 / $1 })) }
    }

    private func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
