/// The fields that most calls of a declared endpoint have in common: looked at once, and made ready for the wire once.
final class CommonFields: Sendable {
    let fields: HTTPFields
    /// Whether all of them may be sent.
    let areValid: Bool
    /// What a transport has made of them, for the next request that has them. Of another kind it takes the place of what was there.
    let prepared = Locked<(any AnyObject & Sendable)?>(nil)

    init(_ fields: HTTPFields) {
        self.fields = fields
        areValid = fields.allSatisfy(\.isValid)
    }
}
