/// The name of a method in the notation of `#function`: base name and argument labels. It is the key of an endpoint.
///
///     repository(owner:name:)      base "repository", labels "owner", "name"
///     get(_:)                      one argument without a label: "_"
///     user                         a property: no parentheses, no arguments
public struct MethodName: Sendable, Hashable, CustomStringConvertible {
    /// The name before the parentheses.
    public let baseName: String
    /// The labels in order, `_` for an argument without a label.
    public let labels: [String]
    /// Whether the name is a property's, without parentheses.
    public let isProperty: Bool

    /// The number of arguments.
    public var arity: Int { labels.count }

    /// Creates the name of a method with labels; empty labels become `_`.
    public init(baseName: String, labels: [String]) {
        self.baseName = baseName
        self.labels = labels.map { $0.isEmpty ? "_" : $0 }
        isProperty = false
    }

    /// Parses a name in the notation of `#function`.
    ///
    /// - Throws: ``MethodNameError`` with the fault and a suggestion.
    public init(_ text: String) throws(MethodNameError) {
        guard let open = text.firstIndex(of: "(") else {
            guard Self.isIdentifier(text) else {
                throw MethodNameError(text: text, problem: "isn't a Swift name", suggestion: Self.withoutBackticks(text))
            }
            baseName = text
            labels = []
            isProperty = true
            return
        }
        let base = String(text[..<open])
        guard Self.isIdentifier(base) else {
            throw MethodNameError(
                text: text, problem: "begins with \"\(base)\", which isn't a Swift name", suggestion: Self.withoutBackticks(text))
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
                    suggestion: Self.withoutBackticks(text) ?? Self.suggestion(base: base, inner: inner))
            }
            labels = parts.dropLast().map(String.init)
        }
        baseName = base
        self.labels = labels
        isProperty = false
    }

    /// The name in the notation of `#function`.
    public var description: String {
        isProperty ? baseName : "\(baseName)(\(labels.map { $0 + ":" }.joined()))"
    }

    /// A name without the backticks that its declaration needs: `#function` leaves them out.
    private static func withoutBackticks(_ text: String) -> String? {
        let bare = text.filter { $0 != "`" }
        return bare != text && (try? MethodName(bare)) != nil ? bare : nil
    }

    /// A suggestion for an invalid list of labels: `owner, name` or `owner: String, name`.
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

    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart || first.value >= 0x1F000 else {
            return false
        }
        return text.unicodeScalars.dropFirst().allSatisfy { $0 == "_" || $0.properties.isXIDContinue || $0.value >= 0x1F000 }
    }
}

// Swift names from the names of services, such as an OpenAPI document's `operationId`s and parameters.
extension MethodName {
    /// Returns a text unchanged if it is a Swift name. Otherwise, characters that a name can't contain separate words, and the words are
    /// joined in camel case: `repos/get-branch` is `reposGetBranch`, `$filter` is `filter`. Empty if the text has no word.
    static func identifier(of text: String) -> String {
        if isIdentifier(text), text != "_" { return text }
        var result = ""
        for word in text.unicodeScalars.split(whereSeparator: { !isWordScalar($0) }) {
            let word = String(String.UnicodeScalarView(word))
            result += result.isEmpty ? word : word.prefix(1).uppercased() + word.dropFirst()
        }
        guard let first = result.unicodeScalars.first else { return "" }
        if !first.properties.isXIDStart, first != "_" { result = "_" + result }
        return isIdentifier(result) && result != "_" ? result : ""
    }

    /// Returns the name of an operation that the service doesn't name, from its method and path: `getUsersId` for `GET /users/{id}`.
    static func identifier(method: String, path: String) -> String {
        identifier(of: method.lowercased() + "/" + path)
    }

    /// Returns a name with a word in front: `path` and `id` are `pathId`.
    static func identifier(_ word: String, before name: String) -> String {
        word + name.prefix(1).uppercased() + name.dropFirst()
    }

    private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDContinue
    }
}

/// A key that isn't in the notation that `#function` has for methods.
public struct MethodNameError: DescribedError, Sendable, Hashable {
    /// The invalid text.
    public let text: String
    /// The description of the fault.
    public let problem: String
    /// The corrected name, if it can be guessed.
    public let suggestion: String?

    /// The text, the fault and the suggestion.
    public var description: String {
        "\"\(text)\" \(problem)" + (suggestion.map { "; write \"\($0)\"" } ?? "; write it like \"repository(owner:name:)\"")
    }
}
