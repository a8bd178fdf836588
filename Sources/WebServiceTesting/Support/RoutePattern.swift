/// A path with named places, as ``LoopbackRoutes`` compares it with the decoded segments of a request.
struct RoutePattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case one(String)
        case rest(String)
    }

    private let segments: [Segment]

    init(_ pattern: String) {
        let rooted = pattern.hasPrefix("/") ? pattern.dropFirst() : pattern[...]
        segments =
            rooted.isEmpty
            ? []
            : rooted.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Substring.init).map { text in
                if text.hasPrefix(":") { return .one(String(text.dropFirst())) }
                if text.hasPrefix("*") { return .rest(String(text.dropFirst())) }
                return .literal(String(text))
            }
    }

    /// The values of the named places, or `nil` when the path is another one.
    func match(_ path: [String]) -> [String: String]? {
        var parameters: [String: String] = [:]
        var rest = path[...]
        for segment in segments {
            if case .rest(let name) = segment {
                parameters[name] = rest.joined(separator: "/")
                return parameters
            }
            guard let found = rest.popFirst() else { return nil }
            switch segment {
            case .literal(let text): guard text == found else { return nil }
            case .one(let name), .rest(let name): parameters[name] = found
            }
        }
        return rest.isEmpty ? parameters : nil
    }
}
