import Foundation
import HTTPTransport

/// Masks secrets in records before any sink sees them, so that they never reach console, spool or network. Enabled by default.
///
/// Secrets are found in two ways. *Names*: the value of a name such as `Authorization`, `password`, or any name that contains `token` or
/// `secret` is masked, in metadata, and within messages in header lines, queries, JSON, XML and `name=value`. *Forms*: texts with the form
/// of a secret are masked anywhere: user info in URLs, bearer tokens, JWTs, keys of cloud services, PEM blocks, card numbers. Case is
/// ignored, and percent-encoded, escaped and Base64 text is decoded first.
///
///     LogRedaction(alsoHiding: ["IBAN"], exceptFor: ["code"])
///     LogRedaction(rules: RedactionRule.standard + [.prefix("acme_", atLeast: 20)])
///
/// The bare names `code`, `key` and `sig` are masked in metadata and queries, since they carry secrets in sign-in flows; use `exceptFor` to
/// show them otherwise. Redaction takes linear time in the length of a text, for any content; a closure of ``RedactionRule/matching(_:)``
/// adds its own time.
public struct LogRedaction: Sendable {
    /// Masks the values of the standard names, and what the standard rules find.
    public static let standard = LogRedaction()
    /// Masks nothing.
    public static let none = LogRedaction(names: nil, rules: [])

    /// The text that replaces a secret.
    public static let mask = SecretMask.mask

    /// The rules that texts are searched by.
    public var rules: [RedactionRule] { search.rules }

    /// The search settings. A class, so that copies of a redaction share them.
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

    /// Creates a redaction with the standard names, some more names, and rules.
    ///
    /// - Parameters:
    ///   - hiding: Additional names whose values are masked, in any case.
    ///   - showing: Names that are never masked, in any case. They take precedence.
    ///   - rules: The rules that texts are searched by; omit some to disable them, or add your own.
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

    /// Returns the text with its secrets masked.
    public func masked(_ text: String) -> String {
        guard !masksNothing else { return text }
        return replacement(of: text) ?? text
    }

    /// The masked text; `nil` if nothing needs masking.
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

extension LogRedaction {
    /// The smallest number of 13 digits.
    private static let smallestCard: Int64 = 1_000_000_000_000

    /// Returns the metadata with the values of secret names masked, and also secrets within other values and within the names.
    public func masked(_ metadata: LogMetadata) -> LogMetadata {
        guard !masksNothing, !metadata.isEmpty else { return metadata }
        return masked(metadata, depth: 0)
    }

    private func masked(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        var result: LogMetadata?
        // Every record passes here: one pass over its pairs, and a copy only if something needs masking.
        var (namesSecret, mayNeedNames) = (false, false)
        for index in metadata.indices {
            let pair = metadata[index]
            mayNeedNames = mayNeedNames || pair.key.utf8.count >= Self.shortestName
            namesSecret = namesSecret || names(pair)
            guard let value = hides(pair.key) ? .string(Self.mask) : replacement(of: pair.value, depth: depth) else { continue }
            if result == nil { result = metadata }
            result?.setValue(value, at: index)
        }
        if namesSecret {
            for index in metadata.indices where Self.isValuing(metadata[index].key) {
                if result == nil { result = metadata }
                result?.setValue(.string(Self.mask), at: index)
            }
        }
        return mayNeedNames ? maskedNames(of: result ?? metadata) : result ?? metadata
    }

    /// Whether a value is the name of a secret, whose value is in a sibling pair.
    ///
    /// - Parameter isMasked: Whether the mask counts as a name, because the name may already be masked, as under `key`.
    private func names(_ pair: LogMetadata.Pair, isMasked: Bool = false) -> Bool {
        guard case .string(let name) = pair.value, Self.isNaming(pair.key) else { return false }
        return hides(name) || isMasked && hasNames && name == Self.mask
    }

    private func namesSecret(_ metadata: LogMetadata) -> Bool {
        metadata.contains { names($0, isMasked: true) }
    }

    /// Masks values that became secret through the merge; each side was masked by itself.
    ///
    /// - Parameters:
    ///   - metadata: `base` merged with `other`.
    func maskedPairs(_ metadata: LogMetadata, of base: LogMetadata, and other: LogMetadata) -> LogMetadata {
        let (isNamedBefore, isNamedNow) = (namesSecret(base), namesSecret(other))
        guard isNamedBefore || isNamedNow else { return metadata }
        var result = metadata
        for (index, pair) in metadata.enumerated() where Self.isValuing(pair.key) {
            if other[pair.key] == nil ? isNamedNow : isNamedBefore { result.setValue(.string(Self.mask), at: index) }
        }
        return result
    }

    /// The minimum number of bytes of a name that can be a secret itself.
    private static let shortestName = 12

    /// Masks names that are secrets themselves, as in a table of sessions by token.
    private func maskedNames(of metadata: LogMetadata) -> LogMetadata {
        let isMasked = metadata.contains { $0.key.utf8.count >= Self.shortestName && replacement(of: $0.key) != nil }
        guard isMasked else { return metadata }
        let keys = metadata.map { masked($0.key) }
        // Reserved first, so that no masked name takes an unchanged one.
        var taken = Set(zip(metadata, keys).lazy.filter { $0.key == $1 }.map(\.1))
        var number = 0
        return LogMetadata(
            zip(metadata, keys).map { pair, key in
                guard key != pair.key, !taken.insert(key).inserted else { return (key, pair.value) }
                var other: String
                repeat {
                    number += 1
                    other = "\(key) \(number)"
                } while !taken.insert(other).inserted
                return (other, pair.value)
            })
    }

    /// The masked value; `nil` if nothing needs masking. Values nested too deep become ``LogValue/tooDeep``, as in the formats, so they
    /// aren't searched.
    private func replacement(of value: LogValue, depth: Int) -> LogValue? {
        switch value {
        case .null, .bool, .date: return nil
        case .string(let text): return replacement(of: text).map { .string($0) }
        case .int(let number):
            guard number >= Self.smallestCard, forms.contains(.cardNumbers) else { return nil }
            return CardNumber.isWhole(String(number)) ? .string(Self.mask) : nil
        case .double(let number):
            guard number >= Double(Self.smallestCard), forms.contains(.cardNumbers), let whole = Int64(exactly: number) else { return nil }
            return CardNumber.isWhole(String(whole)) ? .string(Self.mask) : nil
        case .data(let data):
            return replacement(of: String(decoding: data, as: UTF8.self)).map { _ in .string(Self.mask) }
        case .dictionary(let values):
            guard depth < LogValue.maximumDepth else { return .string(LogValue.tooDeep) }
            let masked = masked(values, depth: depth + 1)
            return masked == values ? nil : .dictionary(masked)
        case .array(let values):
            guard depth < LogValue.maximumDepth else { return .string(LogValue.tooDeep) }
            return replacement(ofElements: values, depth: depth)
        }
    }

    /// Masks secrets in the elements, and each element that follows the name of a secret, as in the arguments of a command:
    /// `["--password", "…"]`.
    private func replacement(ofElements values: [LogValue], depth: Int) -> LogValue? {
        var result: [LogValue]?
        var isBehindName = false
        for (index, value) in values.enumerated() {
            let replaced = isBehindName ? .string(Self.mask) : replacement(of: value, depth: depth + 1)
            if let replaced {
                if result == nil { result = values }
                result?[index] = replaced
            }
            guard !isBehindName, index + 1 < values.count, case .string(let name) = value else {
                isBehindName = false
                continue
            }
            isBehindName = name.utf8.count <= SecretNames.longest && !name.contains(" ") && hides(name)
        }
        return result.map { .array($0) }
    }

    private static func isNaming(_ key: String) -> Bool {
        SecretNames.isNaming(key)
    }

    private static func isValuing(_ key: String) -> Bool {
        SecretNames.isValuing(key)
    }
}

extension LogMetadata {
    /// Merges masked values into these masked values, and masks values that become secret through the merge.
    func merging(_ other: LogMetadata, _ redaction: LogRedaction) -> LogMetadata {
        let merged = merging(other)
        return isEmpty || other.isEmpty ? merged : redaction.maskedPairs(merged, of: self, and: other)
    }
}
