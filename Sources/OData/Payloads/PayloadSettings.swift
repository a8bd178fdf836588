/// What a decoder brings along to all places in a payload.
final class PayloadSettings: Sendable {
    let types: TypeRegistry
    let context: ContextURL

    init(types: TypeRegistry = TypeRegistry(), context: String? = nil) {
        self.types = types
        self.context = ContextURL(context)
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }
}
