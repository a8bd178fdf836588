/// Something that looks at a request before the routes' handlers do, and may answer in their place.
public struct LoopbackGuard: Sendable {
    let check: @Sendable (LoopbackRequest) -> LoopbackResponse?

    /// Makes a guard of a closure: `nil` lets the request pass.
    public init(_ check: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse?) {
        self.check = check
    }

    /// Lets requests pass that carry these credentials by Basic authentication in UTF-8 (RFC 7617), and challenges all others.
    public static func basicAuthentication(user: String, password: String, realm: String) -> LoopbackGuard {
        LoopbackGuard { request in
            if let found = request.basicCredentials, found == (user, password) { return nil }
            let quoted = realm.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
            return .unauthorized("Basic realm=\"\(quoted)\", charset=\"UTF-8\"")
        }
    }
}
