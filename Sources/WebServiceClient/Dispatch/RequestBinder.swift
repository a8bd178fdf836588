import Foundation

/// Binds the arguments of a call to an endpoint: what comes out is the request, before the chain.
struct RequestBinder {
    private let endpoint: ResolvedEndpoint
    private let arguments: [(any Sendable)?]
    /// Path and query, percent-encoded, in place of the endpoint's path.
    private let target: String?

    init(_ endpoint: ResolvedEndpoint, _ arguments: [(any Sendable)?], target: String? = nil) {
        self.endpoint = endpoint
        self.arguments = arguments
        self.target = target
    }

    private var plan: EndpointPlan { endpoint.plan }

    /// The request of the call.
    ///
    /// - Throws: ``ArgumentError``, ``InvalidRequest``, ``BodyEncodingError``, or the URL builder's error.
    func request(root fixedRoot: ServiceRoot?) throws -> (request: ServiceRequest, origin: Origin) {
        guard arguments.count == plan.names.count else {
            throw InvalidRequest(
                message:
                    "The call gives \(arguments.count) arguments and the key has \(plan.names.count): pass each argument of the method "
                    + "to call(…), in its order, and leave closures out with .ignoring(…).")
        }
        guard let root = try fixedRoot ?? boundRoot() else {
            throw InvalidRequest(message: "The client has no service root: give it one, such as \"https://api.example.com/v1\".")
        }
        return (try request(url: url(root), headers: endpoint.headers), root.origin)
    }

    /// The request of a call to an absolute URL. Its query gets the endpoint's items; a foreign one gets none of the client's headers.
    func request(absolute url: URL, isForeign: Bool) throws -> ServiceRequest {
        var target = url
        if !plan.query.isEmpty {
            var items = ""
            for part in plan.query { append(try text(of: part), to: &items) }
            var text = url.absoluteString.prefix { $0 != "#" }
            while text.last == "?" || text.last == "&" { text.removeLast() }
            let separator = text.contains("?") ? "&" : "?"
            guard let extended = items.isEmpty ? url : URL(string: text + separator + items) else {
                throw InvalidRequest(message: "The query items don't fit \"\(SecretMask.text(of: url))\".")
            }
            target = extended
        }
        return try request(url: target, headers: isForeign ? foreignHeaders : endpoint.headers)
    }

    /// What a call to somebody else carries: nothing of the client's and the class's, only what the call itself says.
    private var foreignHeaders: HTTPFields {
        var headers: HTTPFields = ["User-Agent": ClientState.userAgent, "Accept": endpoint.serializer.contentType]
        for case .fixed(let name, let value) in plan.headers { headers[name] = value }
        return headers
    }

    private func request(url: URL, headers: HTTPFields) throws -> ServiceRequest {
        var request = ServiceRequest(method: plan.method, url: url, headers: headers, timeouts: endpoint.settings.deadlines)
        request.identity = endpoint.identity
        try bindHeaders(&request.headers)
        try bindBody(&request)
        return request
    }

    // MARK: Values

    private func error(_ position: Int, _ place: String, _ reason: String) -> ArgumentError {
        ArgumentError(argument: plan.names.description(of: position), place: place, reason: reason)
    }

    /// The text of an argument; `nil` for `nil`.
    private func text(_ position: Int, in place: String) throws -> String? {
        guard let argument = arguments[position] else { return nil }
        do {
            return try ArgumentText.text(of: argument)
        } catch {
            throw self.error(position, place, String(describing: error))
        }
    }

    /// A template with its arguments put in and passed through `encode`; `nil` when an argument is `nil`.
    private func text(_ template: Template, in place: String, encode: (String) -> String) throws -> String? {
        if let literal = template.literal { return literal }
        var result = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let text):
                result += text
            case .argument(let position):
                guard let value = try text(position, in: place) else { return nil }
                result += encode(value)
            }
        }
        return result
    }

    // MARK: URL

    private func url(_ root: ServiceRoot) throws -> URL {
        var path = try target ?? path()
        var query = root.query
        // By bytes: the path is encoded already, and walking it by characters took a third of the time of binding.
        // A fragment, such as a template's {#name}, is never sent.
        if let hash = path.utf8.firstIndex(of: UInt8(ascii: "#")) { path = String(path[..<hash]) }
        if let question = path.utf8.firstIndex(of: UInt8(ascii: "?")) {
            append(String(path[path.utf8.index(after: question)...]), to: &query)
            path = String(path[..<question])
        }
        for part in plan.query { append(try text(of: part), to: &query) }
        let parts = URLParts(root: root.base, path: path, query: query, route: plan.route)
        return try endpoint.settings.urlBuilder?.url(from: parts) ?? parts.standardURL()
    }

    private func append(_ pairs: String, to query: inout String) {
        guard !pairs.isEmpty else { return }
        if !query.isEmpty { query += "&" }
        query += pairs
    }

    private func path() throws -> String {
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

    private func segment(_ segment: Template) throws -> String {
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
    private func wholePath(_ position: Int) throws -> String {
        guard let value = try text(position, in: "the path"), !value.isEmpty else {
            throw error(position, "the path", "it is nil or empty; give a relative path.")
        }
        let segments = value.split(separator: "/", omittingEmptySubsequences: false)
        if let first = segments.first, Self.beginsWithScheme(first) {
            throw error(position, "the path", "it begins with a scheme; give a path relative to the service root.")
        }
        return try segments.map { segment in
            guard !segment.isEmpty else {
                throw error(position, "the path", "it has an empty segment; take leading, trailing and doubled slashes out.")
            }
            guard !URLEncoding.isDotSegment(String(segment)) else {
                throw error(position, "the path", "the segment \"\(segment)\" leads to another resource.")
            }
            return URLEncoding.pathSegment(String(segment))
        }.joined(separator: "/")
    }

    /// Whether a text begins like `mailto:` (RFC 3986 §3.1).
    private static func beginsWithScheme(_ text: Substring) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex else { return false }
        return text[..<colon].utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): index > 0
            default: false
            }
        }
    }

    private func expand(_ template: URITemplate, _ positions: [String: Int]) throws -> String {
        let path = try template.expand { variable in
            guard let position = positions[variable], let argument = arguments[position] else { return .undefined }
            do {
                return try URITemplate.Value(reflecting: argument)
            } catch {
                throw self.error(position, "the URI template", String(describing: error))
            }
        }
        let end = path.firstIndex { $0 == "?" || $0 == "#" } ?? path.endIndex
        let hasDots = path[..<end].split(separator: "/").contains { URLEncoding.isDotSegment(String($0)) }
        if hasDots {
            let position = positions.values.min() ?? 0
            throw error(position, "the path", "the expansion has a \".\" or \"..\" segment, which leads to another resource.")
        }
        return path
    }

    /// The service root with this call's arguments.
    private func boundRoot() throws -> ServiceRoot? {
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
                        throw error(position, "the service root", "only letters, digits, \"-\" and \".\" may stand in a host.")
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

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    // MARK: Query, headers, body

    private func text(of part: EndpointPlan.Query) throws -> String {
        switch part {
        case .fixed(let text):
            return text
        case .pair(let name, let value):
            guard let name = try text(name, in: "the query", encode: URLEncoding.queryName) else { return "" }
            guard let value else { return name }
            return try text(value, in: "the query", encode: URLEncoding.queryValue).map { name + "=" + $0 } ?? ""
        case .named(let name, let position):
            return try fields(position, in: "the query item \(name)", name: name)
        case .reflected(let position):
            return try fields(position, in: "the query", name: nil)
        }
    }

    private func fields(_ position: Int, in place: String, name: String?) throws -> String {
        URLEncoding.query(of: try reflect(position, in: place, name: name))
    }

    private func reflect(
        _ position: Int, in place: String, name: String?, arrays: FieldReflection.ArrayStrategy? = nil
    ) throws -> [ReflectedField] {
        guard let argument = arguments[position] else { return [] }
        do {
            return try FieldReflection(arrays: arrays ?? endpoint.settings.arrays ?? .repeatedKey).fields(of: argument, named: name)
        } catch {
            throw self.error(position, place, String(describing: error))
        }
    }

    private func bindHeaders(_ headers: inout HTTPFields) throws {
        for header in plan.headers {
            switch header {
            case .fixed:
                break
            case .template(let name, let template):
                headers[name] = try text(template, in: "the header \(name)", encode: { $0 }).map { value in
                    try check(value, template.arguments.min() ?? 0, "the header \(name)")
                }
            case .reflected(let position):
                var fields = HTTPFields()
                for field in try reflect(position, in: "the headers", name: nil, arrays: .repeatedKey) {
                    let name = HTTPFields.Name(field.name)
                    guard name.isValid else { throw error(position, "the headers", "\"\(field.name)\" is no header name.") }
                    if let value = field.value { fields.append(name, try check(value, position, "the header \(name)")) }
                }
                headers.replace(with: fields)
            }
        }
    }

    private func check(_ value: String, _ position: Int, _ place: String) throws -> String {
        if let fault = URLEncoding.headerFault(in: value) { throw error(position, place, "\(fault).") }
        return value
    }

    private func bindBody(_ request: inout ServiceRequest) throws {
        guard let position = plan.body, let argument = arguments[position], !ResultKind.isNil(argument) else { return }
        let body = try BodyEncoder(serializer: endpoint.serializer, arrays: endpoint.settings.arrays)
            .body(of: argument, name: plan.names.description(of: position))
        request.body = body
        guard let type = body.contentType else { return }
        // What the serializer wrote is what the serializer says; bytes as they are may be declared to be something else.
        let isAsGiven = (argument is Data || argument is RequestBody) && !body.contentTypeIsBinding
        if isAsGiven, declaresContentType(in: request.headers) { return }
        request.headers[.contentType] = type
    }

    /// Whether the endpoint itself, not the class or the client, has set the `Content-Type`.
    private func declaresContentType(in headers: HTTPFields) -> Bool {
        guard headers.contains(.contentType) else { return false }
        return plan.headers.contains { header in
            switch header {
            case .fixed(let name, _), .template(let name, _): name == .contentType
            case .reflected: headers[.contentType] != endpoint.headers[.contentType]
            }
        }
    }
}
