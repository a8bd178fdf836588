/// Times of single calls.
struct Samples: Sendable {
    private let sorted: [UInt64]

    init(_ nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

    /// The value that this part of them doesn't exceed, in microseconds.
    func quantile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int((Double(sorted.count) * part).rounded(.up)) - 1)]) / 1_000
    }

    /// The quantiles that are shown.
    var text: String {
        // Of fewer that one would be the slowest.
        let shown = [("p50", 0.5), ("p99", 0.99), ("p99.99", 0.9999)].prefix(sorted.count < 10_000 ? 2 : 3)
        let parts = shown.map { "\($0) \(decimal(quantile($1))) µs" }
        return parts.joined(separator: ", ") + ", the slowest \(decimal(quantile(1))) µs"
    }
}
