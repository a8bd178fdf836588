/// How fast something was done, and what it took.
struct Rate {
    let perSecond: Double
    /// In microseconds for each.
    let processorTime: Double

    var text: String {
        "\(decimal(perSecond / 1_000, 0)) thousand records/s (\(decimal(processorTime, 1)) µs of processor time each)"
    }
}
