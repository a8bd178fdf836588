import Foundation
import WebServiceClient

/// The parts of a request that a ``Cassette`` compares, in a form in which equal requests are equal.
struct RequestShape: Hashable {
    /// A query or form item.
    struct Item: Hashable {
        let name: String
        let value: String?

        var text: String { value.map { "\(name)=\($0)" } ?? name }
    }

    enum Body: Hashable {
        case none
        /// The body isn't recorded, or isn't compared.
        case any
        case json(JSONValue)
        case form([Item])
        case bytes(Data)
    }

    let method: String
    let origin: String
    let path: String
    let query: [Item]
    let body: Body

    /// Makes the shape of a request whose secrets are masked.
    ///
    /// - Parameter ignored: The names of query items, form items and JSON members that aren't compared.
    init(_ exchange: RecordedExchange, _ matching: Cassette.Matching, ignoring ignored: Set<String>) {
        // Masked again, because a recording may predate a rule, or may come from a browser.
        let url = SecretMask.text(ofURL: exchange.url)
        let target = RequestTarget(Array(url.utf8))
        method = exchange.method
        origin = matching.contains(.origin) ? Self.origin(of: url) : ""
        path = matching.contains(.path) ? Self.normal(target.path) : ""
        query = matching.contains(.query) ? Self.items(target.query ?? [], plusIsBlank: false, ignored) : []
        if !matching.contains(.body) || exchange.isRequestBodyOmitted {
            body = .any
        } else {
            body = Self.body(exchange, ignored)
        }
    }

    private static func origin(of url: String) -> String {
        let scalars = url.unicodeScalars
        guard let start = url.range(of: "://")?.upperBound else { return "" }
        let authority = scalars[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.lastIndex(of: "@").map { authority[scalars.index(after: $0)...] } ?? authority
        return (String(scalars[..<start]) + String(host)).lowercased()
    }

    /// Returns the path with the same escapes for the same bytes.
    private static func normal(_ path: ArraySlice<UInt8>) -> String {
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            URLEncoding.pathSegment(String(decoding: RequestTarget.percentDecoded(segment), as: UTF8.self))
        }
        let text = segments.joined(separator: "/")
        return text.isEmpty ? "/" : text
    }

    /// The items by name. Items with the same name keep their order.
    private static func items(_ bytes: some Collection<UInt8>, plusIsBlank: Bool, _ ignored: Set<String>) -> [Item] {
        let query = Array(bytes.prefix { $0 != UInt8(ascii: "#") })
        let items = RequestTarget.pairs(of: query, plusIsBlank: plusIsBlank).filter { !ignored.contains($0.name) }
        return items.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
            .map { Item(name: $0.element.name, value: $0.element.value) }
    }

    private static func body(_ exchange: RecordedExchange, _ ignored: Set<String>) -> Body {
        guard !exchange.requestBody.isEmpty else { return .none }
        let type = exchange.requestField("Content-Type")
        let masked = BodyMask.masked(exchange.requestBody, type: type)
        let essence = (type ?? "").lowercased()
        if essence.contains("json"), let tree = try? JSONReader().decode(JSONValue.self, from: masked) {
            return .json(ignored.isEmpty ? tree : without(ignored, tree))
        }
        if essence.hasPrefix("application/x-www-form-urlencoded") { return .form(items(masked, plusIsBlank: true, ignored)) }
        if essence.hasPrefix("multipart/"), let boundary = type.flatMap(MediaType.init)?["boundary"], !boundary.isEmpty {
            // A client makes a new boundary for each body.
            return .bytes(replacing(Data("--\(boundary)".utf8), with: Data("--boundary".utf8), in: masked))
        }
        return .bytes(masked)
    }

    /// Removes the members that aren't compared. The nesting of values is bounded, so recursion is safe.
    private static func without(_ names: Set<String>, _ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map { without(names, $0) })
        case .object(let members):
            .object(JSONValue.Members(members.filter { !names.contains($0.name) }.map { ($0.name, without(names, $0.value)) }))
        default: value
        }
    }

    private static func replacing(_ text: Data, with other: Data, in body: Data) -> Data {
        var result = Data()
        var rest = body[...]
        while let range = rest.range(of: text) {
            result += rest[..<range.lowerBound] + other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

// The differences of requests, for messages.
extension RequestShape {
    /// Returns the distance of a recording from a request: 0 for equal shapes.
    func distance(from requested: RequestShape) -> Int {
        let segments = (path.split(separator: "/"), requested.path.split(separator: "/"))
        let differing = zip(segments.0, segments.1).count { $0 != $1 } + abs(segments.0.count - segments.1.count)
        let items = Set(query).symmetricDifference(requested.query).count
        return (method == requested.method ? 0 : 4) + (origin == requested.origin ? 0 : 2) + 3 * differing + items
            + (hasSameBody(as: requested) ? 0 : 2)
    }

    /// Returns whether the known parts of the bodies are equal.
    func hasSameBody(as other: RequestShape) -> Bool { body == .any || other.body == .any || body == other.body }

    /// Returns whether the requests are equal, except for unknown bodies.
    func fits(_ other: RequestShape) -> Bool {
        method == other.method && origin == other.origin && path == other.path && query == other.query && hasSameBody(as: other)
    }

    /// Returns the differences of a recording from a request, one per line.
    func differences(from requested: RequestShape) -> [String] {
        var lines: [String] = []
        func compare(_ part: String, _ recorded: String, _ requested: String) {
            if recorded != requested { lines.append("\(part): recorded \(recorded), requested \(requested)") }
        }
        compare("method", method, requested.method)
        compare("origin", origin, requested.origin)
        compare("path", path, requested.path)
        lines += Self.differences("query item", query, requested.query)
        guard !hasSameBody(as: requested) else { return lines }
        switch (body, requested.body) {
        case (.form(let recorded), .form(let requested)):
            lines += Self.differences("form item", recorded, requested)
        case (.json(let recorded), .json(let requested)):
            lines.append(Self.difference(recorded, requested))
        case (.none, _): lines.append("body: recorded none, requested \(requested.bodyText)")
        case (_, .none): lines.append("body: recorded \(bodyText), requested none")
        default: lines.append("body: recorded \(bodyText), requested \(requested.bodyText)")
        }
        return lines
    }

    private static func differences(_ kind: String, _ recorded: [Item], _ requested: [Item]) -> [String] {
        Set(recorded.map(\.name)).union(requested.map(\.name)).sorted().compactMap { name in
            let values = [recorded, requested].map { items in
                let found = items.filter { $0.name == name }.map { $0.value.map { "“\($0.prefix(200))”" } ?? "no value" }
                return found.isEmpty ? "none" : found.joined(separator: ", ")
            }
            return values[0] == values[1] ? nil : "\(kind) “\(name)”: recorded \(values[0]), requested \(values[1])"
        }
    }

    private static func difference(_ recorded: JSONValue, _ requested: JSONValue) -> String {
        let trees = [recorded, requested].map { value in (try? value.json()).flatMap { try? JSONTree(parsing: Data($0.utf8)) } }
        guard let recorded = trees[0], let requested = trees[1], let difference = requested.difference(from: recorded) else {
            return "body: different JSON"
        }
        return "body at \(difference.place): recorded \(difference.expected), requested \(difference.found)"
    }

    private var bodyText: String {
        switch body {
        case .none: "none"
        case .any: "any"
        case .json(let value): "the JSON “\(value.description.prefix(200))”"
        case .form(let items): "the form “\(items.map(\.text).joined(separator: "&").prefix(200))”"
        case .bytes(let data):
            String(data: data, encoding: .utf8).map { "“\($0.prefix(200))”" } ?? "\(data.count) bytes"
        }
    }
}
