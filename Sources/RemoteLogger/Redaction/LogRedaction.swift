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
        let secrets: SecretRules
        let finders: [@Sendable (String) -> [Range<String.Index>]]

        init(rules: [RedactionRule], secrets: SecretRules, finders: [@Sendable (String) -> [Range<String.Index>]]) {
            self.rules = rules
            self.secrets = secrets
            self.finders = finders
        }
    }

    private let search: Search

    private var secrets: SecretRules { search.secrets }
    private var finders: [@Sendable (String) -> [Range<String.Index>]] { search.finders }
    var forms: SecretForms { secrets.forms }
    var hasNames: Bool { secrets.names != nil }

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
        search = Search(rules: rules, secrets: SecretRules(names: names, forms: forms, prefixes: prefixes), finders: finders)
    }

    /// Whether the value of a name is masked.
    public func hides(_ name: String) -> Bool { secrets.hides(name) }

    var masksNothing: Bool { secrets.names == nil && rules.isEmpty }

    /// The text with the secrets in it masked.
    public func masked(_ text: String) -> String {
        guard !masksNothing else { return text }
        return replacement(of: text) ?? text
    }

    /// The masked text; `nil` when there is nothing to mask.
    func replacement(of text: String) -> String? {
        guard !finders.isEmpty else { return secrets.replacement(of: text) }
        var found: [Range<Int>] = []
        for finder in finders {
            for range in SinkMark.find({ finder(text) }) {
                found.append(
                    text.utf8.distance(
                        from: text.startIndex, to: range.lowerBound)..<text.utf8.distance(from: text.startIndex, to: range.upperBound))
            }
        }
        return secrets.replacement(of: text, adding: found)
    }
}
