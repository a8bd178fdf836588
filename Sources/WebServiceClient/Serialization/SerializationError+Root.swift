extension SerializationError {
    /// That a payload has no root where names should lead to one.
    ///
    /// - Parameters:
    ///   - depth: how many of the names led somewhere.
    ///   - found: what there is where the next one should be, as the end of a sentence.
    static func missingRoot(_ path: [String], after depth: Int, found: String) -> SerializationError {
        let whole = path.joined(separator: ".")
        let place = depth == 0 ? "at the top of the payload" : "in “\(path.prefix(depth).joined(separator: "."))”"
        return SerializationError(.root, "The payload has no root “\(whole)”: \(place) is no “\(path[depth])”; \(found).")
    }

    /// Some of the keys of an object, in words.
    static func list(ofKeys keys: [String]) -> String {
        guard !keys.isEmpty else { return "no keys" }
        let shown = keys.sorted().prefix(10).map { "“\(excerpt($0, upTo: 40))”" }.joined(separator: ", ")
        return (keys.count == 1 ? "the key " : "the keys ") + shown + (keys.count > 10 ? " and \(keys.count - 10) more" : "")
    }
}
