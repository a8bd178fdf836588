/// The rate of some work, and its processor time.
struct Rate {
    let perSecond: Double
    /// In microseconds per item.
    let processorTime: Double

    var text: String {
        "\(decimal(perSecond / 1_000, 0)) thousand records/s (\(decimal(processorTime, 1)) µs of processor time each)"
    }
}
