import Foundation

/// How console and files write a record.
///
///     FileSink(file, formatter: .ndjson)
///     ConsoleSink(formatter: LineFormatter { "\($0.level): \($0.message)" })
public struct LineFormatter: Sendable {
    private let format: @Sendable (LogRecord) -> String

    /// A formatter. What ends a line, or what terminals obey, is escaped in what it makes: a record is a line, whatever is in it.
    public init(_ format: @escaping @Sendable (LogRecord) -> String) {
        self.format = { Self.escaped(format($0)) }
    }

    private init(raw format: @escaping @Sendable (LogRecord) -> String) {
        self.format = format
    }

    /// Time, level, label, message, metadata, error and source, for people.
    public static let text = LineFormatter(raw: { ConsoleSink.line(of: $0) })

    /// An object of JSON, as ``NDJSONFormat`` writes it.
    public static let ndjson = LineFormatter(raw: { record in
        var text = JSONText()
        NDJSONFormat.write(record, into: &text)
        return text.string
    })

    /// The record as a line without its end.
    public func line(of record: LogRecord) -> String { format(record) }

    private static func escaped(_ line: String) -> String {
        ConsoleSink.escapedLine(line)
    }
}
