/// Measures time from its creation.
struct Stopwatch {
    private let start = nanoseconds()
    private let processor = ProcessorTime.process

    func rate(of count: Int) -> Rate {
        Rate(
            perSecond: Double(count) / seconds(since: start),
            processorTime: Double(ProcessorTime.process - processor) / 1_000 / Double(count))
    }
}
