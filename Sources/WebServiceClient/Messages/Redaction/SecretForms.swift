/// The rules that ``SecretSearch`` knows.
package struct SecretForms: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let namedValues = Self(rawValue: 1)
    package static let urlUserInfo = Self(rawValue: 2)
    package static let bearerTokens = Self(rawValue: 4)
    package static let webTokens = Self(rawValue: 8)
    package static let serviceKeys = Self(rawValue: 16)
    package static let pemBlocks = Self(rawValue: 32)
    package static let cardNumbers = Self(rawValue: 64)
    package static let emailAddresses = Self(rawValue: 128)
}
