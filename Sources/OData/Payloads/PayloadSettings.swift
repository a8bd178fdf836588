/// What a decoder brings along to all places in a payload.
final class PayloadSettings: Sendable {
    let types: TypeRegistry
    let context: ContextURL

    /// What the user gives types along for their decoding.
    let given: [CodingUserInfoKey: any Sendable]

    /// Whether what is decoded is thrown away: it only shows what a type asks for.
    let isTrial: Bool

    init(
        types: TypeRegistry = TypeRegistry(), context: ContextURL = ContextURL(nil), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.types = types
        given = userInfo
        self.context = context
        isTrial = false
    }

    /// The same, to see what a type asks for.
    init(trialOf other: PayloadSettings) {
        types = other.types
        given = other.given
        context = other.context
        isTrial = true
    }

    var userInfo: [CodingUserInfoKey: Any] { given }
}
