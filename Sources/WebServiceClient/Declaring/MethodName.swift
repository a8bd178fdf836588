/// The name of a method as `#function` spells it: base name and argument labels. It is the key of an endpoint.
///
///     repository(owner:name:)      base "repository", labels "owner", "name"
///     get(_:)                      one argument without a label: "_"
///     user                         a property: no parentheses, no arguments
public struct MethodName: Sendable, Hashable, CustomStringConvertible {
    /// The name before the parentheses.
    public let baseName: String
    /// The labels in their order, `_` for an argument without one.
    public let labels: [String]
    /// Whether the name is that of a property, without parentheses.
    public let isProperty: Bool

    /// The number of arguments.
    public var arity: Int { labels.count }

    /// The name of a method with those labels; empty labels become `_`.
    public init(baseName: String, labels: [String]) {
        self.baseName = baseName
        self.labels = labels.map { $0.isEmpty ? "_" : $0 }
        isProperty = false
    }

    /// Reads a name as `#function` spells it.
    ///
    /// - Throws: ``MethodNameError``, which says what is wrong and how the name would be right.
    public init(_ text: String) throws(MethodNameError) {
        guard let open = text.firstIndex(of: "(") else {
            guard Self.isIdentifier(text) else { throw MethodNameError(text: text, problem: "is no Swift name", suggestion: nil) }
            baseName = text
            labels = []
            isProperty = true
            return
        }
        let base = String(text[..<open])
        guard Self.isIdentifier(base) else {
            throw MethodNameError(text: text, problem: "begins with \"\(base)\", which is no Swift name", suggestion: nil)
        }
        let rest = text[text.index(after: open)...]
        guard rest.hasSuffix(")") else {
            throw MethodNameError(text: text, problem: "doesn't end with \")\"", suggestion: Self.suggestion(base: base, inner: rest))
        }
        let inner = rest.dropLast()
        var labels: [String] = []
        if !inner.isEmpty {
            let parts = inner.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.last == "", parts.dropLast().allSatisfy({ Self.isIdentifier(String($0)) }) else {
                throw MethodNameError(
                    text: text, problem: "isn't spelled as #function spells it, each label followed by a colon and nothing else",
                    suggestion: Self.suggestion(base: base, inner: inner))
            }
            labels = parts.dropLast().map(String.init)
        }
        baseName = base
        self.labels = labels
        isProperty = false
    }

    /// The name as `#function` spells it.
    public var description: String {
        isProperty ? baseName : "\(baseName)(\(labels.map { $0 + ":" }.joined()))"
    }

    /// A guess at what was meant by a list of labels that isn't one: `owner, name` or `owner: String, name`.
    private static func suggestion(base: String, inner: Substring) -> String? {
        let bare = inner.filter { $0 != ")" }
        let isParameterList = bare.contains(",") || (bare.contains(": ") && !bare.hasSuffix(":"))
        let parts = bare.split(separator: isParameterList ? "," : ":")
        let labels = parts.map { part -> String in
            let words = part.split(whereSeparator: { $0 == ":" || $0 == " " })
            return words.first.map(String.init) ?? ""
        }
        guard !labels.isEmpty, labels.allSatisfy(isIdentifier) else { return nil }
        return "\(base)(\(labels.map { $0 + ":" }.joined()))"
    }

    private static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart || first.value >= 0x1F000 else {
            return false
        }
        return text.unicodeScalars.dropFirst().allSatisfy { $0 == "_" || $0.properties.isXIDContinue || $0.value >= 0x1F000 }
    }
}

/// A key that isn't spelled as `#function` spells a method.
public struct MethodNameError: DescribedError, Sendable, Hashable {
    /// The text that was taken for a name.
    public let text: String
    /// What is wrong with it.
    public let problem: String
    /// How it would be right, if that can be guessed.
    public let suggestion: String?

    /// The text, what is wrong and what was probably meant.
    public var description: String {
        "\"\(text)\" \(problem)" + (suggestion.map { "; write \"\($0)\"" } ?? "; write it like \"repository(owner:name:)\"")
    }
}
