/// The times of single calls.
struct Samples: Sendable {
    private let sorted: [UInt64]

    init(_ nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

    /// Returns the time in microseconds that a fraction of the calls doesn't exceed.
    func quantile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int((Double(sorted.count) * part).rounded(.up)) - 1)]) / 1_000
    }

    /// The quantiles as text.
    var text: String {
        // With fewer samples, p99.99 equals the slowest call.
        let shown = [("p50", 0.5), ("p99", 0.99), ("p99.99", 0.9999)].prefix(sorted.count < 10_000 ? 2 : 3)
        let parts = shown.map { "\($0) \(decimal(quantile($1))) µs" }
        return parts.joined(separator: ", ") + ", the slowest \(decimal(quantile(1))) µs"
    }
}
