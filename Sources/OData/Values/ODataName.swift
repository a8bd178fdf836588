/// The rules for names (ABNF, "Names and identifiers").
package enum ODataName {
    /// The system query options that may omit the `$`, in lowercase.
    package static let systemOptions: Set<String> = [
        "filter", "search", "select", "expand", "orderby", "top", "skip", "count", "compute", "apply", "levels", "index", "format",
        "schemaversion", "id",
    ]

    /// Returns whether 4.01 reads a name without `$` as a system query option.
    static func isSystemOption(_ name: String) -> Bool {
        systemOptions.contains(name.lowercased())
    }

    /// Returns whether a name has only letters, digits and `_`, no digit first, and at most 128 characters.
    package static func isIdentifier(_ name: some StringProtocol) -> Bool {
        var bytes = 0
        for byte in name.utf8 {
            bytes += 1
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where bytes > 1: continue
            case 128...: return isWideIdentifier(name)
            default: return false
            }
        }
        return (1...128).contains(bytes)
    }

    /// Checks identifiers with characters beyond ASCII.
    private static func isWideIdentifier(_ name: some StringProtocol) -> Bool {
        var count = 0
        for scalar in name.unicodeScalars {
            count += 1
            let isFirst = count == 1
            switch scalar {
            case "a"..."z", "A"..."Z", "_": continue
            case "0"..."9" where !isFirst: continue
            default: guard scalar.value > 127, isWordPart(scalar, first: isFirst) else { return false }
            }
        }
        return (1...128).contains(count)
    }

    /// Returns whether a name consists of identifiers separated by dots.
    package static func isQualified(_ name: some StringProtocol) -> Bool {
        guard name.utf8.contains(UInt8(ascii: ".")) else { return isIdentifier(name) }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isIdentifier($0) }
    }

    /// Returns whether a name is a qualified name, or `Collection(…)` around one.
    static func isType(_ name: String) -> Bool {
        guard name.hasPrefix("Collection("), name.hasSuffix(")") else { return isQualified(name) }
        return isQualified(name.dropFirst("Collection(".count).dropLast())
    }

    /// Returns whether a name is allowed for a property in a path: an identifier, or an annotation such as `@Core.Messages` or
    /// `@Currency#Reporting`.
    static func isProperty(_ name: String) -> Bool {
        guard name.utf8.first == UInt8(ascii: "@") else { return isIdentifier(name) }
        let parts = name.dropFirst().split(separator: "#", omittingEmptySubsequences: false)
        return parts.count <= 2 && isQualified(parts[0]) && parts.dropFirst().allSatisfy { isIdentifier($0) }
    }

    private static func isWordPart(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: true
        case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format: !first
        default: false
        }
    }
}
