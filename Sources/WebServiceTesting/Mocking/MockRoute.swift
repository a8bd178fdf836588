import Foundation
import WebServiceClient

/// The reverse of an endpoint's route: it recognizes the requests that the endpoint makes.
struct MockRoute: Sendable {
    private enum Token: Sendable {
        /// Bytes with normal escapes.
        case literal([UInt8])
        /// One or more bytes of a segment.
        case value
        /// Any bytes of a segment.
        case optionalValue
        /// Any bytes.
        case rest
        /// Nothing, or segments from a slash on.
        case segments
    }

    let key: String
    let method: String
    /// The route as declared.
    let text: String
    /// The wire names that lead to the value inside the payload.
    let root: [String]
    /// The endpoint's own service root, if it has one.
    let serviceRoot: String?
    /// The query items that each request of the endpoint has.
    private let query: [RequestShape.Item]
    private let tokens: [Token]

    /// Makes the reverse of a route.
    ///
    /// - Parameter prefix: The path of the class's service root. An endpoint's own root replaces it.
    init(_ route: EndpointRoute, prefix: String) {
        key = route.key
        method = route.method.rawValue
        text = route.text
        root = route.root
        serviceRoot = route.serviceRoot
        let prefix = route.serviceRoot.map(Self.prefix(ofRoot:)) ?? prefix
        // A question mark within an expression of a URI template is inside of braces.
        let path = route.isURITemplate ? route.text[...] : route.text.prefix { $0 != "?" }
        let fixed = route.text.dropFirst(path.count).dropFirst().split(separator: "&").filter { !$0.contains("%%") }
        query =
            RequestTarget.pairs(of: Array(fixed.joined(separator: "&").utf8), plusIsBlank: false).map {
                RequestShape.Item(name: $0.name, value: $0.value)
            } + route.literalQuery.map { RequestShape.Item(name: $0.name, value: $0.value) }
        var tokens = route.isURITemplate ? Self.uriTemplate(path) : Self.template(path)
        // Root and path are joined by exactly one slash.
        let root = prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
        if case .literal(let bytes)? = tokens.first, bytes.first == UInt8(ascii: "/") {
            tokens.insert(.literal(Self.normal(Array(root.utf8))), at: 0)
        } else if case .segments? = tokens.first {
            tokens.insert(.literal(Self.normal(Array(root.utf8))), at: 0)
        } else {
            tokens.insert(.literal(Self.normal(Array((root + "/").utf8))), at: 0)
        }
        self.tokens = tokens
    }

    /// The path of a service root without a slash at its end; empty for a root with placeholders.
    static func prefix(ofRoot root: String) -> String {
        guard !root.contains("%%") else { return "" }
        let path = root.hasPrefix("/") ? String(root.prefix { $0 != "?" && $0 != "#" }) : URLText.Components(root).path
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static func template(_ path: Substring) -> [Token] {
        let parts = path.split(mark: "%%")
        if parts.count == 3, parts[0].isEmpty, parts[2].isEmpty { return [.rest] }
        return parts.enumerated().compactMap { index, part in
            guard index.isMultiple(of: 2) else { return .value }
            return part.isEmpty ? nil : .literal(normal(Array(part.utf8)))
        }
    }

    private static func uriTemplate(_ text: Substring) -> [Token] {
        var tokens: [Token] = []
        var rest = text
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { tokens.append(.literal(normal(Array(rest[..<open].utf8)))) }
            guard let close = rest[open...].firstIndex(of: "}") else { return tokens }
            switch rest[rest.index(after: open)] {
            // A fragment isn't sent.
            case "?", "&", "#": break
            case "/": tokens.append(.segments)
            case "+": tokens.append(.rest)
            case ".", ";": tokens.append(.optionalValue)
            default: tokens.append(.value)
            }
            rest = rest[rest.index(after: close)...]
        }
        // A literal query begins the next part, as in "/search?kind=a{&text}".
        let literal = rest.prefix { $0 != "?" }
        if !literal.isEmpty { tokens.append(.literal(normal(Array(literal.utf8)))) }
        return tokens
    }

    /// Returns a path with the same escapes for the same bytes.
    static func normal(_ path: [UInt8]) -> [UInt8] {
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            URLEncoding.pathSegment(String(decoding: RequestTarget.percentDecoded(segment), as: UTF8.self))
        }
        return Array(segments.joined(separator: "/").utf8)
    }

    /// Returns whether a path with normal escapes fits. Each token is compared with all positions that the tokens before it can reach, so
    /// the time is bounded by the product of both lengths.
    func fits(path: [UInt8], query items: [URLQueryItem]) -> Bool {
        guard query.allSatisfy({ item in items.contains { $0.name == item.name && ($0.value ?? "") == (item.value ?? "") } }) else {
            return false
        }
        var reached = [Bool](repeating: false, count: path.count + 1)
        reached[0] = true
        for token in tokens { reached = Self.advanced(reached, by: token, path) }
        return reached[path.count]
    }

    private static func advanced(_ reached: [Bool], by token: Token, _ path: [UInt8]) -> [Bool] {
        var next = [Bool](repeating: false, count: reached.count)
        let slash = UInt8(ascii: "/")
        switch token {
        case .literal(let bytes):
            for start in reached.indices where reached[start] && start + bytes.count <= path.count {
                if path[start..<(start + bytes.count)].elementsEqual(bytes) { next[start + bytes.count] = true }
            }
        case .value, .optionalValue:
            // Whether an earlier position was reached, without a slash in between.
            var isOpen = false
            for position in reached.indices {
                if position > 0, path[position - 1] == slash { isOpen = false }
                next[position] = isOpen
                if case .optionalValue = token, reached[position] { next[position] = true }
                isOpen = isOpen || reached[position]
            }
        case .rest, .segments:
            var isOpen = false
            for position in reached.indices {
                if case .rest = token { isOpen = isOpen || reached[position] }
                next[position] = isOpen || reached[position]
                if reached[position], position < path.count, path[position] == slash { isOpen = true }
            }
        }
        return next
    }

    /// The specificity of the route. If several fit, the one with the most fixed parts is used, and of these the one whose other parts are
    /// the narrowest.
    var weight: Int {
        tokens.reduce(query.count * 40_000) { sum, token in
            switch token {
            case .literal(let bytes): sum + 4 * bytes.count
            case .value: sum - 1
            case .optionalValue: sum - 2
            case .rest, .segments: sum - 3
            }
        }
    }

    /// Returns the distance of the route from a request without a route: the number of segments that differ, and the method.
    func distance(method: String, segments: [String]) -> Int {
        let own = text.prefix { $0 != "?" }.split(separator: "/")
        let differing = zip(own, segments).count { !$0.contains("%%") && !$0.contains("{") && $0 != $1 }
        return 2 * (differing + abs(own.count - segments.count)) + (method == self.method ? 0 : 1)
    }
}
