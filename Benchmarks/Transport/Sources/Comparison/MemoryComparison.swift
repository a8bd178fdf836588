import Foundation

/// Compares the growth of resident memory after a warm-up: over 100,000 requests, and over 400,000 more, 64 at once.
///
/// Runs one contender at a time, each in a separate process.
struct MemoryComparison {
    private let options: Options

    init(_ options: Options) {
        self.options = options
    }

    private struct Growth: Encodable {
        let contender: String
        let requests: [Int]
        /// The memory after the warm-up and after each of the two runs.
        let residentKilobytes: [Int]
    }

    /// Runs the comparison and prints the table.
    func run() throws {
        let counts = [2_000, 100_000, 400_000].map { max(Int(Double($0) * options.scale), 64) }
        var growths: [Growth] = []
        for contender in try options.contenders() {
            let resident = try counts.map { count in
                try contender.run(Workload(name: "\(count) requests", path: "/small", bytes: 60, requests: count, atOnce: 64))
                    .residentKilobytes
            }
            growths.append(Growth(contender: contender.name, requests: counts, residentKilobytes: resident))
        }
        print("Resident memory, 64 requests of 60 B at once\n")
        Table.print(
            ["", "after \(counts[0])", "growth by \(counts[1])", "growth by \(counts[2]) more"],
            growths.map { growth in
                let sizes = growth.residentKilobytes
                return [growth.contender, text(sizes[0]), text(sizes[1] - sizes[0]), text(sizes[2] - sizes[1])]
            })
        guard let file = options.json else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(growths).write(to: file)
    }

    private func text(_ kilobytes: Int) -> String {
        String(format: "%.2f MB", Double(kilobytes) / 1_024)
    }
}
