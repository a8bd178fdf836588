import Foundation
import WebServiceClient
import Workloads

/// The speed of streams of values and of XML: `Benchmarks/streams`.
struct StreamReport {
    private let streams: StreamWork
    private let documents = DocumentWork()

    init() throws { streams = try StreamWork() }

    /// Writes the texts, so that readers in other languages can read the same.
    func write(to folder: URL) throws {
        try streams.events.write(to: folder.appending(path: "events"))
        try streams.lines.write(to: folder.appending(path: "lines"))
        try documents.document.write(to: folder.appending(path: "document.xml"))
    }

    /// Prints the readers' speeds as a table.
    func print(rounds: Int) async throws {
        let readers: [(name: String, bytes: Int, read: Alternation.Work)] = [
            ("Server-Sent Events", streams.events.count, { [streams] _ in keep(try await streams.readEvents()) }),
            ("Server-Sent Events, data decoded", streams.events.count, { [streams] _ in keep(try await streams.readDecodedEvents()) }),
            ("JSON Lines, decoded", streams.lines.count, { [streams] _ in keep(try await streams.readLines()) }),
            ("elements of a JSON array, decoded", streams.array.count, { [streams] _ in keep(try await streams.readArray()) }),
            ("JSON Lines, split as a whole, `JSONDecoder`", streams.lines.count, { [streams] _ in keep(try streams.readLinesByHand()) }),
            ("XML, `XMLDecoder`", documents.document.count, { [documents] _ in keep(try documents.decode()) }),
            ("XML, `XMLValue`", documents.document.count, { [documents] _ in keep(try documents.readValue()) }),
            ("XML, Foundation's `XMLParser` alone", documents.document.count, { [documents] _ in keep(documents.parseByHand()) }),
        ]
        let times = try await Alternation(rounds: rounds, repetitions: 1).times(of: readers.map(\.read))
        Swift.print("| reader | MB/s |")
        Swift.print("|---|--:|")
        for (reader, times) in zip(readers, times) {
            Swift.print("| \(reader.name) | \(Int(Double(reader.bytes) / Spread(times).median)) |")
        }
    }

    /// Prints how long after the server wrote them the first events of streams arrive.
    ///
    /// - Parameter url: A stream whose events have as data the nanoseconds of the server's monotonic clock when it wrote them.
    static func printLatency(of url: String) async throws {
        let client = WebServiceClient(serviceRoot: url)
        var times: [Double] = []
        for _ in 0..<101 {
            for try await written in try await client.http.get("").value(EventStream<String>.self) {
                guard let written = UInt64(written) else { continue }
                times.append(Double(monotonicNanoseconds - written) / 1000)
                break
            }
        }
        let spread = Spread(times)
        let quartiles = "\(Int(spread.lower)) to \(Int(spread.upper))"
        Swift.print("first event, after the server wrote it: \(Int(spread.median)) µs (quartiles \(quartiles))")
    }

    private static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
