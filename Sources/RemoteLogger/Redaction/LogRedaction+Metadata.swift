import Foundation
import WebServiceClient

extension LogRedaction {
    /// The least number of 13 digits.
    private static let smallestCard: Int64 = 1_000_000_000_000

    /// The metadata with the values of secret names, and secrets in other values and in the names themselves, masked.
    public func masked(_ metadata: LogMetadata) -> LogMetadata {
        guard !masksNothing, !metadata.isEmpty else { return metadata }
        return masked(metadata, depth: 0)
    }

    private func masked(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        var result: LogMetadata?
        // Each record comes here: once through its pairs, and again only where there is something.
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

    /// Whether a value is the name of a secret, which then stands beside it.
    ///
    /// - Parameter isMasked: whether the name may be masked itself, as that of `key` is.
    private func names(_ pair: LogMetadata.Pair, isMasked: Bool = false) -> Bool {
        guard case .string(let name) = pair.value, Self.isNaming(pair.key) else { return false }
        return hides(name) || isMasked && hasNames && name == Self.mask
    }

    private func namesSecret(_ metadata: LogMetadata) -> Bool {
        metadata.contains { names($0, isMasked: true) }
    }

    /// Masks what a secret's name stands beside only now that both have come together; each side was masked by itself.
    ///
    /// - Parameters:
    ///   - metadata: `other` laid over `base`.
    func maskedPairs(_ metadata: LogMetadata, of base: LogMetadata, and other: LogMetadata) -> LogMetadata {
        let (isNamedBefore, isNamedNow) = (namesSecret(base), namesSecret(other))
        guard isNamedBefore || isNamedNow else { return metadata }
        var result = metadata
        for (index, pair) in metadata.enumerated() where Self.isValuing(pair.key) {
            if other[pair.key] == nil ? isNamedNow : isNamedBefore { result.setValue(.string(Self.mask), at: index) }
        }
        return result
    }

    /// No name that is shorter is a secret itself.
    private static let shortestName = 12

    /// Secrets may be names, too: of a table of sessions by token, for one.
    private func maskedNames(of metadata: LogMetadata) -> LogMetadata {
        let isMasked = metadata.contains { $0.key.utf8.count >= Self.shortestName && replacement(of: $0.key) != nil }
        guard isMasked else { return metadata }
        let keys = metadata.map { masked($0.key) }
        // A name without a secret stays as it is, hence it isn't free for others.
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

    private static func isNaming(_ key: String) -> Bool {
        SecretNames.isNaming(key)
    }

    private static func isValuing(_ key: String) -> Bool {
        SecretNames.isValuing(key)
    }
}

extension LogMetadata {
    /// Lays values over these, both masked, and masks what makes a secret only together.
    func merging(_ other: LogMetadata, _ redaction: LogRedaction) -> LogMetadata {
        let merged = merging(other)
        return isEmpty || other.isEmpty ? merged : redaction.maskedPairs(merged, of: self, and: other)
    }
}
