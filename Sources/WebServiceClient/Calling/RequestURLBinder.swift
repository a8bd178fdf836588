import Foundation

// The URL: service root, path by the plan's kind, query.
extension RequestBinder {
    func url(_ root: ServiceRoot) throws -> URL {
        let (path, query) = try pathAndQuery(after: root.query)
        let parts = URLParts(root: root.base, path: path, query: query, route: plan.route)
        if let builder = endpoint.settings.urlBuilder { return try builder.url(from: parts) }
        return try parts.standardURL()
    }

    /// The percent-encoded path below the service root, with the query that doesn't come from the root.
    func pathAndQuery() throws -> String {
        let (path, query) = try pathAndQuery(after: "")
        return query.isEmpty ? path : path + "?" + query
    }

    /// The path and the query, which begins with that of the service root.
    @inline(__always)
    private func pathAndQuery(after rootQuery: String) throws -> (path: String, query: String) {
        var path = try target ?? path()
        var query = rootQuery
        // Scan bytes: the path is encoded already, and scanning characters took a third of the binding time.
        if !path.hasOnlyBytes({ $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "?") }) {
            // A fragment, such as a template's {#name}, is never sent.
            if let hash = path.utf8.firstIndex(of: UInt8(ascii: "#")) { path = String(path[..<hash]) }
            if let question = path.utf8.firstIndex(of: UInt8(ascii: "?")) {
                append(String(path[path.utf8.index(after: question)...]), to: &query)
                path = String(path[..<question])
            }
        }
        for part in plan.query { append(try text(of: part, at: path), to: &query) }
        return (path, query)
    }

    func append(_ pairs: String, to query: inout String) {
        guard !pairs.isEmpty else { return }
        let ampersand = UInt8(ascii: "&")
        if query.isEmpty || query.utf8.last != ampersand && pairs.utf8.first != ampersand {
            if !query.isEmpty { query += "&" }
            query += pairs
        } else {
            query = URLText.joinedQueries(query, pairs) ?? query
        }
    }

    func path() throws -> String {
        switch plan.path {
        case .fixed(let path):
            return path
        case .segments(let segments):
            var path = ""
            for (index, segment) in segments.enumerated() {
                if index > 0 { path += "/" }
                path += try self.segment(segment)
            }
            return path
        case .whole(let position):
            return try wholePath(position)
        case .uriTemplate(let template, let positions):
            return try expand(template, positions)
        }
    }

    func segment(_ segment: Template) throws -> String {
        if let literal = segment.literal { return literal }
        var result = ""
        var last = 0
        for piece in segment.pieces {
            switch piece {
            case .literal(let text):
                result += text
            case .argument(let position):
                last = position
                guard let value = try text(position, in: "the path") else {
                    throw error(position, "the path", "it is nil; make it non-optional, or put it into the query.")
                }
                result += URLEncoding.pathSegment(value)
            }
        }
        guard !result.isEmpty else { throw error(last, "the path", "it is empty, and an empty segment names another resource.") }
        guard !URLEncoding.isDotSegment(result) else {
            throw error(last, "the path", "\"\(result)\" as a segment leads to another resource.")
        }
        return result
    }

    /// A relative path whose segments are encoded one by one.
    func wholePath(_ position: Int) throws -> String {
        guard let value = try text(position, in: "the path"), !value.isEmpty else {
            throw error(position, "the path", "it is nil or empty; give a relative path.")
        }
        // Split by scalars, as in all URL handling: a "/" and a following combining mark form one character.
        let segments = value.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Substring.init)
        if let first = segments.first, Self.beginsWithScheme(first) {
            throw error(position, "the path", "it begins with a scheme; give a path relative to the service root.")
        }
        return try segments.map { segment in
            guard !segment.isEmpty else {
                throw error(position, "the path", "it has an empty segment; remove leading, trailing and doubled slashes.")
            }
            guard !URLEncoding.isDotSegment(String(segment)) else {
                throw error(position, "the path", "the segment \"\(segment)\" leads to another resource.")
            }
            return URLEncoding.pathSegment(String(segment))
        }.joined(separator: "/")
    }

    /// Whether a text begins like `mailto:` (RFC 3986 §3.1).
    static func beginsWithScheme(_ text: Substring) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex else { return false }
        return text[..<colon].utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): index > 0
            default: false
            }
        }
    }

    /// The service root with this call's arguments.
    func boundRoot() throws -> ServiceRoot? {
        guard let template = plan.root else { return nil }
        var text = ""
        var lastInPath: Int?
        for piece in template.pieces {
            switch piece {
            case .literal(let literal):
                text += literal
            case .argument(let position):
                guard let value = try self.text(position, in: "the service root"), !value.isEmpty else {
                    throw error(position, "the service root", "it is nil or empty.")
                }
                let isInAuthority = text.contains("://") && !text.drop(while: { $0 != ":" }).dropFirst(3).contains("/")
                if isInAuthority || !text.contains("://") {
                    guard value.utf8.allSatisfy(Self.isHostByte) else {
                        throw error(position, "the service root", "only letters, digits, \"-\" and \".\" are allowed in a host.")
                    }
                    text += value
                } else {
                    text += URLEncoding.pathSegment(value)
                    lastInPath = position
                }
            }
        }
        let path = text.prefix { $0 != "?" }
        if let lastInPath, path.split(separator: "/").contains(where: { URLEncoding.isDotSegment(String($0)) }) {
            throw error(lastInPath, "the service root", "it makes a \".\" or \"..\" segment, which leads to another resource.")
        }
        guard let root = ServiceRoot(text) else { throw InvalidRequest(message: ServiceRoot.fault(in: text).description) }
        return root
    }

    static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

// Paths by a URI template (RFC 6570). Values must not lead to another resource than the template's.
extension RequestBinder {
    func expand(_ template: URITemplate, _ positions: [String: Int]) throws -> String {
        var blank: Set<String> = []
        var empty: Set<String> = []
        var made: [(name: String, bytes: Range<Int>)] = []
        let expansion = try template.expand(
            { variable in
                guard let position = positions[variable], let argument = arguments[position] else {
                    blank.insert(variable)
                    return .undefined
                }
                do {
                    let value = try URITemplate.Value(reflecting: argument)
                    if value.isBlank { blank.insert(variable) }
                    if value.hasEmptyText { empty.insert(variable) }
                    return value
                } catch {
                    throw self.error(position, "the URI template", reason(error, position))
                }
            },
            noting: { made.append(($0, $1)) })
        if !blank.isEmpty || !empty.isEmpty, let variable = template.blankInPath(blank, empty: empty) {
            throw error(
                positions[variable] ?? 0, "the path",
                "it is nil or empty, and without it the path names another resource; use {/name} for a segment that may be nil.")
        }
        // Finds the argument that produced the bytes. The compiler rejects dot segments and fragments in the template itself.
        func position(making bytes: Range<Int>) -> Int {
            made.last { $0.bytes.overlaps(bytes) }.flatMap { positions[$0.name] } ?? positions.values.min() ?? 0
        }
        let bytes = Array(expansion.utf8)
        if let hash = bytes.firstIndex(of: UInt8(ascii: "#")) {
            throw error(
                position(making: hash..<hash + 1), "the URI template",
                "it has a \"#\", which begins a fragment that is never sent; write it as %23, or the variable as {name} without \"+\"."
            )
        }
        let path = bytes[..<(bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex)]
        if path.starts(with: "//".utf8), made.contains(where: { $0.bytes.overlaps(0..<2) }) {
            throw error(
                position(making: 1..<2), "the path", "it makes an empty segment at the path's beginning; remove its leading slash.")
        }
        for segment in path.split(separator: UInt8(ascii: "/")) where URLEncoding.isDotSegment(String(decoding: segment, as: UTF8.self)) {
            throw error(
                position(making: segment.startIndex..<segment.endIndex), "the path",
                "it makes a \".\" or \"..\" segment, which leads to another resource.")
        }
        return Self.withoutBrackets(expansion)
    }

    /// Encodes brackets. A reserved expansion keeps them (RFC 6570 §3.2.3), but only a host may contain them unencoded (RFC 3986 appendix
    /// A). Foundation would treat the whole URL as unencoded text and encode its escapes again.
    private static func withoutBrackets(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else { return text }
        return text.replacing("[", with: "%5B").replacing("]", with: "%5D")
    }
}
