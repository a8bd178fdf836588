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
    public let rules: [RedactionRule]

    let names: SecretNames?
    let forms: SecretForms
    let prefixes: TokenPrefixes
    let finders: [@Sendable (String) -> [Range<String.Index>]]

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
        self.names = names
        self.rules = rules
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
        self.forms = forms
        self.prefixes = TokenPrefixes(prefixes)
        self.finders = finders
    }

    /// Whether the value of a name is masked.
    public func hides(_ name: String) -> Bool {
        guard let names else { return false }
        var name = name
        return name.withUTF8 { names.hides($0, isParameter: true) }
    }

    private var masksNothing: Bool { names == nil && rules.isEmpty }

    // MARK: Texts

    /// The text with the secrets in it masked.
    public func masked(_ text: String) -> String {
        guard !masksNothing else { return text }
        return replacement(of: text) ?? text
    }

    /// The least number of 13 digits.
    private static let smallestCard: Int64 = 1_000_000_000_000
    /// No text that is shorter holds a secret that can be told from anything else.
    private static let shortest = 6

    /// The masked text; `nil` when there is nothing to mask.
    func replacement(of text: String) -> String? {
        guard text.utf8.count >= Self.shortest || !finders.isEmpty else { return nil }
        var text = text
        var found = text.withUTF8 { bytes in
            var search = SecretSearch(redaction: self, size: bytes.count)
            return search.secrets(in: bytes)
        }
        for finder in finders {
            for range in finder(text) {
                found.append(
                    text.utf8.distance(
                        from: text.startIndex, to: range.lowerBound)..<text.utf8.distance(from: text.startIndex, to: range.upperBound))
            }
        }
        guard !found.isEmpty else { return nil }
        return text.withUTF8 { bytes in
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

    // MARK: Metadata

    /// The metadata with the values of secret names, and secrets in other values and in the names themselves, masked.
    public func masked(_ metadata: LogMetadata) -> LogMetadata {
        guard !masksNothing, !metadata.isEmpty else { return metadata }
        return masked(metadata, depth: 0)
    }

    private func masked(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        let namesSecret =
            names != nil
            && metadata.contains { pair in
                guard Self.isNaming(pair.key), case .string(let name) = pair.value else { return false }
                return hides(name)
            }
        var result: LogMetadata?
        for (index, pair) in metadata.enumerated() {
            let isSecret = hides(pair.key) || namesSecret && Self.isValuing(pair.key)
            guard let value = isSecret ? .string(Self.mask) : replacement(of: pair.value, depth: depth) else { continue }
            if result == nil { result = metadata }
            result?.setValue(value, at: index)
        }
        return maskedNames(of: result ?? metadata)
    }

    /// Secrets may be names, too: of a table of sessions by token, for one.
    private func maskedNames(of metadata: LogMetadata) -> LogMetadata {
        guard metadata.contains(where: { $0.key.utf8.count >= 12 && replacement(of: $0.key) != nil }) else { return metadata }
        var result = LogMetadata()
        for (number, pair) in metadata.enumerated() {
            let key = masked(pair.key)
            result[key == pair.key || result[key] == nil ? key : "\(key) \(number)"] = pair.value
        }
        return result
    }

    /// The masked value; `nil` when there is nothing to mask. Below the depth that formats write nothing is kept, hence nothing needs a
    /// mask there.
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

    /// An array that names a secret and has it behind, as the arguments of a command do: `["--password", "…"]`.
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

    private static let naming: Set<String> = ["name", "key", "header", "field", "parameter"]
    private static let valuing: Set<String> = ["value", "values", "val", "content"]

    private static func isNaming(_ key: String) -> Bool {
        key.utf8.count <= 9 && naming.contains(key.lowercased())
    }

    private static func isValuing(_ key: String) -> Bool {
        key.utf8.count <= 7 && valuing.contains(key.lowercased())
    }
}

extension [Range<Int>] {
    /// The ranges in order, those made one that overlap or touch.
    func merged() -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
