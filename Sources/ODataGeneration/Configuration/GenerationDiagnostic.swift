public import Foundation

/// A fault in a configuration or a document, or a warning about the generated code.
public struct GenerationDiagnostic: Sendable, Hashable {
    /// The severity of a diagnostic.
    public enum Severity: String, Sendable, Hashable {
        /// Code is generated, but it may not be the expected code.
        case warning
        /// No code is generated.
        case error
    }

    /// The severity.
    public let severity: Severity
    /// The name of the file, as given by the caller.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int
    /// The fault and its fix, in a sentence.
    public let message: String

    /// Creates a diagnostic.
    public init(_ severity: Severity, file: String, line: Int = 1, column: Int = 1, _ message: String) {
        self.severity = severity
        self.file = file
        self.line = max(1, line)
        self.column = max(1, column)
        self.message = message
    }
}

extension GenerationDiagnostic: CustomStringConvertible {
    /// The format of compilers, which editors recognize: `graph.odata.json:3:14: error: …`.
    public var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(message)" }
}

/// The reasons why no code is generated: at least one.
public struct GenerationError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// The faults, in the order of the configuration.
    public let diagnostics: [GenerationDiagnostic]

    /// Creates an error.
    public init(_ diagnostics: [GenerationDiagnostic]) {
        self.diagnostics = diagnostics
    }

    /// The faults, each in a line.
    public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
    /// The description.
    public var errorDescription: String? { description }
}

/// The positions of names in the text of a file. `JSONSerialization` doesn't report them, so the first occurrence of the name is used.
struct TextPositions: Sendable {
    let file: String
    private let text: String

    init(file: String, _ data: Data) {
        self.file = file
        text = String(bytes: data, encoding: .utf8) ?? ""
    }

    /// Returns a fault at the first occurrence of a string in the text, or else at the beginning of the text.
    func error(_ message: String, at string: String? = nil) -> GenerationDiagnostic {
        diagnostic(.error, message, at: string)
    }

    /// Returns a diagnostic at the first occurrence of a string in the text, or else at the beginning of the text.
    func diagnostic(_ severity: GenerationDiagnostic.Severity, _ message: String, at string: String? = nil) -> GenerationDiagnostic {
        guard let string, let range = text.range(of: "\"\(string)\"") else {
            return GenerationDiagnostic(severity, file: file, message)
        }
        let (line, column) = position(of: range.lowerBound)
        return GenerationDiagnostic(severity, file: file, line: line, column: column, message)
    }

    private func position(of index: String.Index) -> (Int, Int) {
        let before = text.utf8[..<index]
        let newline = UInt8(ascii: "\n")
        let start = before.lastIndex(of: newline).map { text.utf8.index(after: $0) } ?? text.startIndex
        let lines = before.reduce(into: 1) { if $1 == newline { $0 += 1 } }
        return (lines, text[start..<index].count + 1)
    }
}
