import Foundation

/// A service root, split into what stands before the path of a call and the query that it brings along.
struct ServiceRoot: Sendable {
    /// Scheme, authority and path.
    let base: String
    /// The query without the question mark, and without `&` at its ends; empty without one.
    let query: String
    let origin: Origin

    /// Splits a root; `nil` when it is no absolute http or https URL, or has user info or a fragment.
    init?(_ text: String) {
        guard Self.problem(in: text) == nil, let url = URL(string: text), let origin = Origin(url) else { return nil }
        self.origin = origin
        let question = text.firstIndex(of: "?") ?? text.endIndex
        base = String(text[..<question])
        // A root often ends in "?" or "&", ready for what comes behind.
        let ends = text[question...].dropFirst().drop { $0 == "&" }
        query = String(ends.reversed().drop { $0 == "&" }.reversed())
    }

    /// Scheme and authority of a root in lower case, also of one with placeholders.
    static func authority(of text: String) -> String {
        guard let start = text.range(of: "://")?.upperBound else { return text.lowercased() }
        return (text[..<start] + text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }).lowercased()
    }

    /// Whether a root has places for arguments.
    static func hasPlaceholders(_ text: String) -> Bool { text.range(ofMark: "%%") != nil }

    /// The fault of a root that a class, a client or a profile gives; none where it gives none. With placeholders it is judged with something
    /// in their places: a number may stand wherever a placeholder does, or else a scheme.
    static func faults(in text: String) -> [TableFault] {
        guard !text.isEmpty else { return [] }
        let samples = hasPlaceholders(text) ? ["1", "http"].map { filled(text, with: $0) } : [text]
        return samples.contains { ServiceRoot($0) != nil } ? [] : [fault(in: text)]
    }

    private static func filled(_ text: String, with sample: String) -> String {
        // Split at the marks, every second part is a placeholder's name; an unclosed one is the compiler's to tell.
        text.split(mark: "%%").enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : sample }.joined()
    }

    /// What is wrong with a root and how to mend it.
    static func fault(in text: String) -> TableFault {
        let (problem, fix) =
            problem(in: hasPlaceholders(text) ? filled(text, with: "1") : text) ?? (
                "can't be read", "write it like \"https://api.example.com/v1\""
            )
        return TableFault(
            kind: .badServiceRoot, key: nil, problem: "the service root \"\(SecretMask.text(ofURL: text))\" \(problem)", fix: fix)
    }
}

extension ServiceRoot: CustomStringConvertible, CustomReflectable {
    /// The root with its secrets masked.
    var description: String { SecretMask.text(ofURL: query.isEmpty ? base : base + "?" + query) }

    /// The same as ``description``.
    var customMirror: Mirror { Mirror(self, children: ["root": description]) }
}
