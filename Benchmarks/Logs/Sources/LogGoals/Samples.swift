/// Times of single calls.
struct Samples {
    private let sorted: [UInt64]

    init(_ nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

    /// The value that this part of them doesn't exceed, in microseconds.
    func quantile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int((Double(sorted.count) * part).rounded(.up)) - 1)]) / 1_000
    }
}
