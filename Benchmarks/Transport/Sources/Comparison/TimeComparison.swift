import Foundation

/// Compares time. Each round runs every contender once, so that other load on the machine affects all of them alike.
struct TimeComparison {
    private let options: Options

    init(_ options: Options) {
        self.options = options
    }

    /// Runs the comparison and prints the tables.
    func run() throws {
        let contenders = try options.contenders()
        let workloads = Workload.all.map { $0.scaled(by: options.scale) }
        var figures: [Figure] = []
        for workload in workloads {
            var rounds = contenders.map { _ in [Contender.Answer]() }
            // Round 0 warms up: connections, caches, the allocator.
            for round in 0...options.rounds {
                for offset in contenders.indices {
                    let index = (round + offset) % contenders.count
                    let answer = try contenders[index].run(workload)
                    if round > 0 { rounds[index].append(answer) }
                }
            }
            let count = Double(workload.requests)
            let base = contenders.firstIndex { $0.name == Contender.yardstick }.map { Median.of(rounds[$0].map(\.wall)) / count }
            for (contender, answers) in zip(contenders, rounds) {
                figures.append(
                    Figure(
                        contender: contender.name, workload: workload, rounds: answers.map { $0.wall / count },
                        cpu: answers.map { $0.cpu / count }, base: base))
            }
        }
        print(
            "µs per request, medians of \(options.rounds) rounds in alternation (ratio to the program in C) [processor µs of the process]\n"
        )
        Table.print(
            [""] + workloads.map(\.name),
            contenders.map { contender in [contender.name] + figures.filter { $0.contender == contender.name }.map(\.text) })
        printCallCosts(workloads, figures)
        try save(figures)
    }

    /// Prints the overhead of a declared call over its transport, for workloads that ran both.
    ///
    /// Takes the differences within each round, because the load on the machine varies more between rounds than they do.
    private func printCallCosts(_ workloads: [Workload], _ figures: [Figure]) {
        let costs = workloads.compactMap { workload -> String? in
            let ofWorkload = figures.filter { $0.workload == workload.name }
            guard let bare = ofWorkload.first(where: { $0.contender == Contender.bareTransport }),
                let call = ofWorkload.first(where: { $0.contender == Contender.declaredCall })
            else { return nil }
            let cost = Median.of(zip(call.processorRounds, bare.processorRounds).map { $0 - $1 })
            return String(format: "%+.1f with %@", cost, workload.name)
        }
        guard !costs.isEmpty else { return }
        let text = costs.joined(separator: "; ")
        print("\nA declared call's processor µs on top of its transport's, medians of the differences per round: \(text)")
    }

    private func save(_ figures: [Figure]) throws {
        guard let file = options.json else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(figures).write(to: file)
    }
}

/// The times of one contender for one workload, in microseconds per request.
struct Figure: Encodable {
    let contender: String
    let workload: String
    let requests: Int
    let atOnce: Int
    let bodyBytes: Int
    /// The times of all counted rounds.
    let rounds: [Double]
    let median: Double
    /// The processor time of the process in every counted round, and its median.
    let processorRounds: [Double]
    let processorMedian: Double
    /// The ratio of the median to that of the C program.
    let ratio: Double?

    init(contender: String, workload: Workload, rounds: [Double], cpu: [Double], base: Double?) {
        self.contender = contender
        self.workload = workload.name
        requests = workload.requests
        atOnce = workload.atOnce
        bodyBytes = workload.bytes
        self.rounds = rounds
        median = Median.of(rounds)
        processorRounds = cpu
        processorMedian = Median.of(cpu)
        let median = median
        ratio = base.map { median / $0 }
    }

    /// The figure as text for the table.
    var text: String {
        let ratio = ratio.map { String(format: "(%.2f) ", $0) } ?? ""
        return String(format: median < 100 ? "%.1f " : "%.0f ", median) + ratio + String(format: "[%.0f]", processorMedian)
    }
}
