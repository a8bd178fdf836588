import Foundation
import RemoteLogger
import TestSupport
import WebServiceClient

extension LogRecord {
    /// A record for a test.
    static func sample(
        _ sequence: UInt64 = 1, _ level: LogLevel = .info, _ message: String = "Hello", metadata: LogMetadata = [:], label: String = "test",
        error: String? = nil, trace: TraceContext? = nil, source: LogSource? = nil
    ) -> LogRecord {
        LogRecord(
            id: LogRecordID(high: 0xAB, low: sequence), sequence: sequence, time: 1_772_357_400_123_456_789, uptime: sequence, level: level,
            label: label, message: message, metadata: metadata, error: error, trace: trace, source: source)
    }

    /// A record with random contents of all kinds.
    static func random(_ sequence: UInt64, using generator: inout SeededGenerator) -> LogRecord {
        var metadata = LogMetadata()
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            metadata[text(using: &generator)] = value(depth: 0, using: &generator)
        }
        let level = LogLevel.allCases.randomElement(using: &generator) ?? .info
        let trace =
            Bool.random(using: &generator)
            ? TraceContext(
                traceHigh: generator.next(), traceLow: generator.next(), span: Bool.random(using: &generator) ? generator.next() : nil,
                flags: UInt8.random(in: 0...1, using: &generator)) : nil
        return LogRecord(
            id: LogRecordID(high: generator.next(), low: generator.next()), sequence: sequence,
            time: 1_772_357_400_000_000_000 + sequence, level: level,
            label: ["", "shop", "shop.orders"].randomElement(using: &generator) ?? "",
            message: text(using: &generator), metadata: metadata, error: Bool.random(using: &generator) ? text(using: &generator) : nil,
            trace: trace,
            source: Bool.random(using: &generator) ? LogSource(file: "Shop/Orders.swift", function: "place(_:)", line: 42) : nil)
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Ω", "🦊", "\"", "\\", "\n", "\r", "\t", "\0", "\u{1F}", "\u{7F}", "\u{2028}", "/", "</script>", "%%1%%", "é", "e\u{301}",
            "user", "log.record.uid", " ", "\u{FEFF}", "\u{FFFD}", "𝄞",
        ]
        return (0..<Int.random(in: 0...5, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
    }

    private static func value(depth: Int, using generator: inout SeededGenerator) -> LogValue {
        switch Int.random(in: 0...(depth < 4 ? 9 : 7), using: &generator) {
        case 0: .null
        case 1: .string(text(using: &generator))
        case 2: .int(Int64(bitPattern: generator.next()))
        case 3: .double(Double(bitPattern: generator.next()))
        case 4: .bool(Bool.random(using: &generator))
        case 5: .date(Date(timeIntervalSince1970: Double(bitPattern: generator.next())))
        case 6: .data(Data((0..<Int.random(in: 0...9, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        case 7:
            [LogValue.int(.min), .int(.max), .double(.nan), .double(-.infinity), .double(.leastNonzeroMagnitude)].randomElement(
                using: &generator) ?? .null
        case 8: .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth: depth + 1, using: &generator) })
        default:
            .dictionary(
                LogMetadata(
                    (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                        (text(using: &generator), value(depth: depth + 1, using: &generator))
                    }))
        }
    }
}

/// A sink that keeps its records.
final class CollectingSink: LogSink {
    let minimumLevel: LogLevel
    private let kept = Locked<[LogRecord]>([])

    init(minimumLevel: LogLevel = .trace) {
        self.minimumLevel = minimumLevel
    }

    var records: [LogRecord] { kept.withLock { $0 } }

    func write(_ record: LogRecord) { kept.withLock { $0.append(record) } }
    func flush(within limit: Duration) async -> Bool { true }
    func shutdown(within limit: Duration) async -> Bool { true }
}
