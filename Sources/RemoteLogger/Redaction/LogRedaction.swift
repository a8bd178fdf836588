import Foundation
import WebServiceClient

/// What is masked in records before any sink sees them, so that no secret reaches console, spool or wire. On by default.
///
/// Two things are looked for. *Names*: the value beside a name such as `Authorization`, `password`, or anything that contains `token` or
/// `secret` is masked, be it metadata, a header line, a query, JSON, XML or `name=value` in a message. *Forms*: what looks like a secret
/// wherever it stands: user info in URLs, bearer tokens, JWTs, the keys of cloud services, PEM blocks, card numbers. Case doesn't
/// matter, and text that is percent-encoded, escaped, or Base64 is looked into, too.
///
///     LogRedaction(alsoHiding: ["IBAN"], exceptFor: ["code"])
///     LogRedaction(rules: RedactionRule.standard + [.prefix("acme_", atLeast: 20)])
///
/// Just `code`, `key` and `sig` are masked as names of metadata and in queries, since they carry secrets in sign-in flows; where they
/// don't, show them by `exceptFor`. The time it takes grows with the length of a text only, whatever is in it.
public struct LogRedaction: Sendable {
    /// Masks by the standard names and rules.
    public static let standard = LogRedaction()
    /// Masks nothing.
    public static let none = LogRedaction(names: nil, rules: [])

    /// What stands in place of a secret.
    public static let mask = SecretMask.mask

    /// What texts are searched for.
    public var rules: [RedactionRule] { search.rules }

    /// What is looked for. In a box: each text that is looked through takes it along.
    private final class Search: Sendable {
        let rules: [RedactionRule]
        let names: SecretNames?
        let forms: SecretForms
        let prefixes: TokenPrefixes
        let finders: [@Sendable (String) -> [Range<String.Index>]]

        init(
            rules: [RedactionRule], names: SecretNames?, forms: SecretForms, prefixes: TokenPrefixes,
            finders: [@Sendable (String) -> [Range<String.Index>]]
        ) {
            self.rules = rules
            self.names = names
            self.forms = forms
            self.prefixes = prefixes
            self.finders = finders
        }
    }

    private let search: Search

    var names: SecretNames? { search.names }
    var forms: SecretForms { search.forms }
    var prefixes: TokenPrefixes { search.prefixes }
    private var finders: [@Sendable (String) -> [Range<String.Index>]] { search.finders }

    /// Masks by the standard names and some more, and by rules.
    ///
    /// - Parameters:
    ///   - hiding: names whose values are masked, too, in any case.
    ///   - showing: names that are never masked, in any case. They win.
    ///   - rules: what texts are searched for; leave some out to switch them off, add your own.
    public init(
        alsoHiding hiding: [String] = [], exceptFor showing: [String] = [], rules: [RedactionRule] = RedactionRule.standard
    ) {
        self.init(names: SecretNames(hidden: hiding, shown: showing), rules: rules)
    }

    private init(names: SecretNames?, rules: [RedactionRule]) {
        var forms: SecretForms = []
        var prefixes: [TokenPrefix] = []
        var finders: [@Sendable (String) -> [Range<String.Index>]] = []
        for rule in rules {
            switch rule.kind {
            case .form(let form): forms.formUnion(form)
            case .prefix(let prefix): prefixes.append(prefix)
            case .finder(let finder): finders.append(finder)
            }
        }
        if forms.contains(.serviceKeys) { prefixes += TokenPrefix.known }
        search = Search(rules: rules, names: names, forms: forms, prefixes: TokenPrefixes(prefixes), finders: finders)
    }

    /// Whether the value of a name is masked.
    public func hides(_ name: String) -> Bool {
        guard let names else { return false }
        return name.withBytes { names.hides($0, isParameter: true) }
    }

    var masksNothing: Bool { names == nil && rules.isEmpty }

    /// The text with the secrets in it masked.
    public func masked(_ text: String) -> String {
        guard !masksNothing else { return text }
        return replacement(of: text) ?? text
    }

    /// No text that is shorter holds a secret that can be told from anything else.
    private static let shortest = 6

    /// The masked text; `nil` when there is nothing to mask.
    func replacement(of text: String) -> String? {
        guard text.utf8.count >= Self.shortest || !finders.isEmpty else { return nil }
        var found = text.withBytes { bytes in
            var search = SecretSearch(redaction: self, size: bytes.count)
            return search.secrets(in: bytes)
        }
        for finder in finders {
            for range in SinkMark.find({ finder(text) }) {
                found.append(
                    text.utf8.distance(
                        from: text.startIndex, to: range.lowerBound)..<text.utf8.distance(from: text.startIndex, to: range.upperBound))
            }
        }
        guard !found.isEmpty else { return nil }
        return text.withBytes { bytes in
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + 16)
            var end = 0
            for range in found.merged() {
                result.append(contentsOf: bytes[end..<range.lowerBound])
                result.append(contentsOf: Self.mask.utf8)
                end = range.upperBound
            }
            result.append(contentsOf: bytes[end...])
            return String(decoding: result, as: UTF8.self)
        }
    }
}
