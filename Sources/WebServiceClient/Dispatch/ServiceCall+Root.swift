// What a call without an entry gives to a service root with placeholders.
extension ServiceCall {
    /// The service root when it has placeholders and the call needs it.
    ///
    /// - Throws: ``ServiceError`` when the call has no value for one of them.
    func root(of state: ClientState, for name: MethodName) throws -> String? {
        if case .outside = target { return nil }
        guard let root = state.rootTemplate else { return nil }
        for placeholder in Template.placeholders(in: root) {
            guard case .failure = ArgumentNames(name, ignoring: []).resolve(placeholder) else { continue }
            let isPosition = Int(placeholder) != nil
            let cause = ArgumentError(
                argument: isPosition ? "argument \(placeholder)" : "argument \"\(placeholder)\"", place: "the service root",
                reason: "the call gives no value for it. "
                    + (isPosition ? "Give it behind the route" : "Add .argument(\"\(placeholder)\", …) to the call")
                    + ", or give the client a service root without placeholders.")
            throw ServiceError(
                call: identity(in: state), stage: .binding, kind: .argument, message: cause.description, cause: cause)
        }
        return root
    }
}
