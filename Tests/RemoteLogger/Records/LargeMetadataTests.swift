import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Metadata with many names: its cost is linear, and dropped names are reported. The time limit is far above linear and far below quadratic
/// time.
@Suite(.timeLimit(.minutes(5))) struct LargeMetadataTests {
    private static let many = 100_000

    @Test func `names are set, read and merged in constant time each`() {
        var metadata = LogMetadata()
        for number in 0..<Self.many { metadata["k\(number)"] = .int(Int64(number)) }
        #expect(metadata.count == Self.many)
        for number in stride(from: 0, to: Self.many, by: 3) { metadata["k\(number)"] = .int(-1) }
        #expect(metadata["k3"] == -1 && metadata["k4"] == 4 && metadata["k"] == nil)
        let other = LogMetadata((0..<Self.many).map { ("k\($0 + Self.many / 2)", .bool(true)) })
        let merged = metadata.merging(other)
        #expect(merged.count == Self.many + Self.many / 2)
        #expect(merged["k4"] == 4 && merged["k\(Self.many)"] == true && merged[0].key == "k0")
        #expect(merged[Self.many / 2].value == true, "a name keeps its place")
        #expect(Set([merged, merged]).count == 1)
    }

    @Test func `dictionaries and literals, too`() {
        let dictionary = Dictionary(uniqueKeysWithValues: (0..<Self.many).map { ("k\($0)", $0) })
        guard case .dictionary(let values) = dictionary.logValue else {
            Issue.record("\(dictionary.count)")
            return
        }
        #expect(values.count == Self.many && values["k7"] == 7)
        let twice = LogMetadata((0..<Self.many).map { ("k\($0 % 100)", .int(Int64($0))) })
        #expect(twice.count == 100 && twice["k5"] == .int(Int64(Self.many - 95)))
    }

    /// Compares with a plain array of pairs.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func `whatever is set and removed, the pairs are those of a walk`(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func random(_ bound: UInt64) -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state % bound
        }
        var (metadata, pairs) = (LogMetadata(), [(String, LogValue)]())
        for step in 0..<300 {
            let key = "k\(random(40))"
            let place = pairs.firstIndex { $0.0 == key }
            if random(3) == 0 {
                metadata[key] = nil
                if let place { pairs.remove(at: place) }
            } else {
                let value = LogValue.int(Int64(step))
                metadata[key] = value
                if let place { pairs[place].1 = value } else { pairs.append((key, value)) }
            }
            #expect(metadata.map(\.key) == pairs.map(\.0) && metadata.map(\.value) == pairs.map(\.1))
            #expect(metadata[key] == pairs.first { $0.0 == key }?.1)
            // Created in one step it is the same, with and without a table.
            #expect(metadata == LogMetadata(pairs) && metadata.hashValue == LogMetadata(pairs).hashValue)
        }
    }

    @Test func `a copy doesn't change with what it was copied from`() {
        let first = LogMetadata((0..<50).map { ("k\($0)", .int(Int64($0))) })
        var second = first
        second["k3"] = "x"
        second["new"] = 1
        second["k0"] = nil
        #expect(first.count == 50 && first["k3"] == 3 && first["new"] == nil && first["k0"] == 0)
        #expect(second.count == 50 && second["k3"] == "x" && second["new"] == 1 && second["k49"] == 49)
    }

    // MARK: The bound

    private func log(_ metadata: LogMetadata, context: LogMetadata = LogMetadata()) throws -> (LogRecord, LogHealth) {
        let sink = CollectingSink()
        let logger = RemoteLogger(label: "test", sinks: [sink]).with(context)
        logger.info("m", metadata)
        return (try #require(sink.records.first), logger.pipeline.health)
    }

    private func names(_ metadata: LogMetadata) -> Int {
        metadata.reduce(0) { count, pair in
            switch pair.value {
            case .dictionary(let values): count + 1 + names(values)
            case .array(let values): count + 1 + values.reduce(0) { if case .dictionary(let inner) = $1 { $0 + names(inner) } else { $0 } }
            default: count + 1
            }
        }
    }

    private static func flat(_ count: Int) -> LogMetadata { LogMetadata((0..<count).map { ("k\($0)", .int(1)) }) }

    @Test(
        arguments: [
            ("flat", flat(20_000), 10_001), ("one above", flat(10_001), 2), ("nested", ["a": flat(20_000), "b": 1] as LogMetadata, 10_003),
            ("deep", ["a": ["b": flat(15_000)] as LogMetadata] as LogMetadata, 5_003),
            ("in an array", ["a": LogValue.array([1, .dictionary(flat(15_000)), .dictionary(flat(10))])] as LogMetadata, 5_012),
        ] as [(String, LogMetadata, Int)])
    func `what is above the bound is dropped, and told`(name: String, metadata: LogMetadata, dropped: Int) throws {
        let (record, health) = try log(metadata)
        #expect(names(record.metadata) <= LogMetadata.maximumNames, "\(name)")
        #expect(record.metadata[LogMetadata.droppedKey] == .int(Int64(dropped)))
        #expect(names(record.metadata) - 1 + dropped == names(metadata))
        #expect(health.droppedNames == UInt64(dropped) && !health.isGood && health.emitted == 1)
    }

    @Test func `what is within the bound stays`() throws {
        for count in [0, 16, 17, 2_000, 10_000] {
            let (record, health) = try log(Self.flat(count))
            #expect(record.metadata.count == count && health.droppedNames == 0 && health.isGood)
        }
        let (both, health) = try log(Self.flat(10_000), context: ["context": 1])
        #expect(both.metadata.count == 10_000 && both.metadata["context"] == 1 && health.droppedNames == 2)
    }

    @Test func `a large dictionary in a log call ends, with secrets masked`() throws {
        var dictionary = Dictionary(uniqueKeysWithValues: (0..<Self.many).map { ("k\($0)", $0) })
        dictionary["a-password"] = 84_921_733
        let (record, _) = try log(["all": dictionary, "text": "password=hunter22"])
        guard case .dictionary(let values) = record.metadata["all"] else {
            Issue.record("\(record.metadata.count)")
            return
        }
        #expect(values["a-password"] == "<masked>" && values.count > 9_000)
    }

    @Test func `masked names stay apart from names that look like them`() {
        let tokens: [String] = (10_000..<10_003).map { "gh" + "p_0123456789abcdefghijABCDEFGHIJ0\($0)" }
        let pairs: [(String, LogValue)] = [(tokens[0], 1), ("<masked> 1", 2), (tokens[1], 3), ("<masked>", 4), (tokens[2], 5)]
        let given = LogMetadata(pairs)
        let masked = LogRedaction.standard.masked(given)
        #expect(masked.count == 5 && masked["<masked>"] == 4 && masked["<masked> 1"] == 2)
        let values: [LogValue] = masked.map { $0.value }
        #expect(values == [1, 2, 3, 4, 5] as [LogValue])
        let many = LogMetadata((0..<5_000).map { ("gh" + "p_0123456789abcdefghijABCDEFGHIJ0\(10_000 + $0)", LogValue.int(Int64($0))) })
        #expect(LogRedaction.standard.masked(many).count == 5_000)
    }
}
