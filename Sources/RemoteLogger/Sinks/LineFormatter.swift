import Foundation

/// Formats a record as a line for console and files.
///
///     FileSink(file, formatter: .ndjson)
///     ConsoleSink(formatter: LineFormatter { "\($0.level): \($0.message)" })
public struct LineFormatter: Sendable {
    private let format: @Sendable (LogRecord) -> String

    /// Creates a formatter. Line ends and terminal controls in its output are escaped: a record is always one line.
    public init(_ format: @escaping @Sendable (LogRecord) -> String) {
        self.format = { Self.escapedLine(format($0)) }
    }

    private init(raw format: @escaping @Sendable (LogRecord) -> String) {
        self.format = format
    }

    /// Time, level, label, message, metadata, error and source, for human readers.
    public static let text = LineFormatter(raw: { textLine(of: $0) })

    /// A JSON object, as ``NDJSONFormat`` writes it.
    public static let ndjson = LineFormatter(raw: { record in
        var text = JSONText()
        NDJSONFormat.write(record, into: &text)
        return text.string
    })

    /// Returns the record as a line without a newline.
    public func line(of record: LogRecord) -> String { format(record) }

    /// Formats a record as a line without a newline. Line breaks and control characters are escaped as `\n` or `\u{…}`, so that content
    /// can't forge a line.
    private static func textLine(of record: LogRecord) -> String {
        var time = JSONText()
        TimestampText.write(nanoseconds: record.time, into: &time)
        var line = time.string.dropLast(7) + "Z "
        line += record.level.description.padding(toLength: 8, withPad: " ", startingAt: 0)
        line += record.label.isEmpty ? " " : " \(record.label): "
        line += record.message
        if !record.metadata.isEmpty { line += " \(record.metadata)" }
        if let error = record.error { line += " error=\(error)" }
        if let source = record.source { line += " (\(source.file):\(source.line))" }
        return escapedLine(String(line))
    }

    /// Escapes line ends and characters that control terminals.
    private static func escapedLine(_ line: String) -> String {
        line.unicodeScalars.contains(where: isUnfit) ? escaped(line) : line
    }

    /// Whether a character is a control character, including those above ASCII that terminals interpret, ends a line, or changes the text
    /// direction.
    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func escaped(_ line: String) -> String {
        var result = ""
        for scalar in line.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnfit(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
