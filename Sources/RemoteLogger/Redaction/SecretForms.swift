/// The rules that ``SecretSearch`` knows.
struct SecretForms: OptionSet, Sendable {
    let rawValue: UInt16

    static let namedValues = Self(rawValue: 1)
    static let urlUserInfo = Self(rawValue: 2)
    static let bearerTokens = Self(rawValue: 4)
    static let webTokens = Self(rawValue: 8)
    static let serviceKeys = Self(rawValue: 16)
    static let pemBlocks = Self(rawValue: 32)
    static let cardNumbers = Self(rawValue: 64)
    static let emailAddresses = Self(rawValue: 128)
}
