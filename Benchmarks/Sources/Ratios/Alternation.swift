/// Measures workloads in alternation, round by round, so that other load on the machine affects all of them alike.
struct Alternation {
    /// A workload, called with the number of the repetition.
    typealias Work = @Sendable (Int) async throws -> Void

    let rounds: Int
    let repetitions: Int

    /// The times per repetition in microseconds: for each workload its rounds, in order.
    ///
    /// The order of the workloads rotates from round to round. The first tenth of the rounds isn't counted.
    func times(of works: [Work]) async throws -> [[Double]] {
        var times = works.map { _ in [Double]() }
        let warmUp = max(rounds / 10, 1)
        for round in 0..<(rounds + warmUp) {
            for offset in works.indices {
                let index = (round + offset) % works.count
                let time = try await time(of: works[index])
                if round >= warmUp { times[index].append(time) }
            }
        }
        return times
    }

    private func time(of work: Work) async throws -> Double {
        let start = ContinuousClock.now
        for repetition in 0..<repetitions { try await work(repetition) }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return (Double(seconds) * 1e6 + Double(attoseconds) / 1e12) / Double(repetitions)
    }
}

/// The summary of a row of figures.
struct Spread {
    private let sorted: [Double]

    init(_ values: [Double]) {
        sorted = values.sorted()
    }

    var median: Double { quantile(0.5) }
    var lower: Double { quantile(0.25) }
    var upper: Double { quantile(0.75) }

    private func quantile(_ part: Double) -> Double {
        guard let last = sorted.indices.last else { return .nan }
        return sorted[min(max(Int((Double(last) * part).rounded()), 0), last)]
    }
}
