/// The text of a source file during printing, line by line.
struct SourceText {
    private(set) var lines: [String] = []
    private var indentation = ""
    /// The access level, followed by a blank; empty for `internal`.
    let access: String

    init(access: GenerationConfiguration.Access) {
        self.access = access == .internal ? "" : access.rawValue + " "
    }

    /// Appends a line.
    mutating func line(_ text: String) {
        lines.append(text.isEmpty ? "" : indentation + text)
    }

    /// Appends an empty line, unless the text ends with one.
    mutating func space() {
        if let last = lines.last, !last.isEmpty, !last.hasSuffix("{") { lines.append("") }
    }

    /// Appends a line that ends with a brace, the output of `body`, indented, and the closing brace.
    mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
        line(head + " {")
        indentation += "    "
        body(&self)
        indentation.removeLast(4)
        line("}")
    }

    /// Appends a documentation comment and a deprecation.
    mutating func notes(_ notes: ElementNotes, deprecates: Bool = true) {
        comment(notes.comment)
        guard let message = notes.deprecation else { return }
        if deprecates {
            line("@available(*, deprecated, message: \(SwiftNames.literal(message)))")
        } else {
            // The generated code itself uses the type, so a deprecated type would cause warnings in it.
            comment((notes.comment.isEmpty ? [] : [""]) + ["Deprecated: \(message)"])
        }
    }

    /// Appends a documentation comment.
    mutating func comment(_ lines: [String]) {
        for text in lines { line(text.isEmpty ? "///" : "/// " + text) }
    }

    var text: String { lines.joined(separator: "\n") + "\n" }
}
