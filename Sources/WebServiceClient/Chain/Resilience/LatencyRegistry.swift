import Foundation

/// The times that the requests of a client's endpoints take to their response's head, for delays that depend on them.
final class LatencyRegistry: Sendable {
    /// The number of endpoints that are kept. One more empties the registry, since keys made at run time have no bound.
    static let limit = 1_000

    private struct Key: Hashable {
        let endpoint: String
        let origin: Origin?
    }

    private let histograms = Locked<[Key: LatencyHistogram]>([:])

    /// The number of endpoints that are kept.
    var count: Int { histograms.withLock { $0.count } }

    /// Adds the time of a request of an endpoint to an origin.
    func add(_ latency: Duration, of endpoint: String, at origin: Origin?) {
        let key = Key(endpoint: endpoint, origin: origin)
        histograms.withLock { histograms in
            if histograms[key] == nil, histograms.count >= Self.limit { histograms = [:] }
            histograms[key, default: LatencyHistogram()].add(latency)
        }
    }

    /// Returns the time within which a share of an endpoint's requests were answered; `nil` if there are too few.
    func latency(of endpoint: String, at origin: Origin?, percentile: Double) -> Duration? {
        histograms.withLock { $0[Key(endpoint: endpoint, origin: origin)]?.latency(percentile: percentile) }
    }
}

/// The distribution of times between a millisecond and four minutes, with a resolution of a fifth.
struct LatencyHistogram: Sendable {
    /// The number of times that a percentile requires.
    static let minimum = 50
    /// The number of times at which the older ones lose half of their weight.
    static let most: Double = 1_000
    /// The number of buckets for each doubling of the time.
    private static let steps = 4.0
    private static let size = 73

    private var weights = [Double](repeating: 0, count: size)
    private(set) var total = 0.0

    /// Adds a time.
    mutating func add(_ latency: Duration) {
        weights[Self.index(of: latency)] += 1
        total += 1
        guard total >= Self.most else { return }
        total = 0
        for index in weights.indices {
            weights[index] /= 2
            total += weights[index]
        }
    }

    /// Returns the bound below which a share of the times are; `nil` if there are too few times, or the share isn't between 0 and 1.
    func latency(percentile: Double) -> Duration? {
        guard total >= Double(Self.minimum), percentile > 0, percentile < 1 else { return nil }
        var sum = 0.0
        for (index, weight) in weights.enumerated() {
            sum += weight
            if sum >= percentile * total { return Self.bound(of: index) }
        }
        return Self.bound(of: Self.size - 1)
    }

    /// The longest time of a bucket.
    static func bound(of index: Int) -> Duration { .milliseconds(1) * exp2(Double(index) / steps) }

    private static func index(of latency: Duration) -> Int {
        let milliseconds = latency / .milliseconds(1)
        guard milliseconds > 1 else { return 0 }
        return min(size - 1, Int((log2(milliseconds) * steps).rounded(.up)))
    }
}
