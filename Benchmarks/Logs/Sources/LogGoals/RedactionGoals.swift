import RemoteLogger

/// Measures the search for secrets.
struct RedactionGoals {
    private struct Sample {
        let message: String
        let metadata: LogMetadata

        /// The bytes of the message, the names and the values.
        var bytes: Int { metadata.reduce(message.utf8.count) { $0 + $1.key.utf8.count + $1.value.description.utf8.count } }
    }

    /// Records of 256 bytes, most of them without a secret, as in practice: words, a URL, numbers, identifiers.
    private static func samples() -> [Sample] {
        var generator = SeededGenerator(state: 17)
        let services = ["orders", "customers", "products", "invoices", "shipments"]
        return (0..<1_000).map { number in
            let service = services.randomElement(using: &generator) ?? ""
            var message = "Order \(Int.random(in: 1...999_999, using: &generator)) was sent to the \(service) service after "
            message += "\(Int.random(in: 1...900, using: &generator)) ms: "
            message += "https://shop.example/\(service)/\(generator.next())?page=2&sort=date"
            let token = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
            if number % 10 == 0 { message += " with Bearer \(token)" }
            var metadata: LogMetadata = [
                "http.method": "GET", "http.status": 200, "duration_ms": 12.75, "request.id": String(generator.next(), radix: 16),
            ]
            let rest = 256 - Sample(message: message, metadata: metadata).bytes - "note".utf8.count
            let words = "the customer has asked for a delivery in the morning and left a note at the door for whoever brings it "
            metadata["note"] = .string(String((words + words).prefix(max(0, rest))))
            return Sample(message: message, metadata: metadata)
        }
    }

    func masked() -> Goal {
        let samples = Self.samples()
        let redaction = LogRedaction.standard
        var masked = 0
        func run() {
            for sample in samples {
                let message = redaction.masked(sample.message)
                _ = redaction.masked(sample.metadata)
                if message.utf8.count != sample.message.utf8.count { masked += 1 }
            }
        }
        run()
        // Takes the best of many runs, to exclude other load on the machine.
        let times = (0..<200).map { _ in
            let start = nanoseconds()
            run()
            return seconds(since: start) * 1e6 / Double(samples.count)
        }
        let (time, bytes) = (times.min() ?? .nan, Double(samples.reduce(0) { $0 + $1.bytes }) / Double(samples.count))
        return Goal(
            name: "looking for secrets", goal: "at most 2 µs for a record of 256 bytes",
            found: "\(decimal(time)) µs for a record of \(decimal(bytes, 0)) bytes, one in ten with a secret",
            isMet: time <= 2 && masked > 0)
    }
}
