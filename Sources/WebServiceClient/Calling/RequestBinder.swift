import Foundation

/// Binds the arguments of a call to an endpoint and makes the request that enters the chain.
struct RequestBinder {
    let endpoint: ResolvedEndpoint
    let arguments: [(any Sendable)?]
    /// The percent-encoded path and query that replace the endpoint's path.
    let target: String?
    /// Further origins of the service, to which an endpoint's own root may lead.
    var allowedOrigins: Set<Origin> = []

    init(_ endpoint: ResolvedEndpoint, _ arguments: [(any Sendable)?], target: String? = nil) {
        self.endpoint = endpoint
        if let passed = endpoint.plan.passed, passed.count(where: { $0 != nil }) == arguments.count {
            // The arguments of the key's labels, of which the call has a part, in another order.
            self.arguments = passed.map { position in position.flatMap { arguments.indices.contains($0) ? arguments[$0] : nil } }
        } else {
            self.arguments = arguments
        }
        self.target = target
    }

    var plan: EndpointPlan { endpoint.plan }

    /// The request of the call.
    ///
    /// - Throws: ``ArgumentError``, ``InvalidRequest``, ``BodyEncodingError``, or the URL builder's error.
    func request(root fixedRoot: ServiceRoot?) throws -> (request: ServiceRequest, origin: Origin) {
        guard arguments.count == plan.names.count else {
            throw InvalidRequest(
                message:
                    "The call passes \(arguments.count) arguments, but the key has \(plan.names.count): pass each argument of the method "
                    + "to call(…), in its order, and leave closures out with .ignoring(…).")
        }
        guard let root = try fixedRoot ?? boundRoot() else {
            throw InvalidRequest(message: "The client has no service root: give it one, such as \"https://api.example.com/v1\".")
        }
        if !plan.required.isEmpty { try checkRequired() }
        return (try request(url: url(ownRoot(root)), headers: endpoint.headers), root.origin)
    }

    /// The request of a call to an absolute URL. The endpoint's items are added to its query. A foreign URL gets none of the client's
    /// headers.
    func request(absolute url: URL, isForeign: Bool) throws -> ServiceRequest {
        var target = url
        if !plan.query.isEmpty {
            var items = ""
            for part in plan.query { append(try text(of: part, at: url.path), to: &items) }
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

    /// The headers of a call outside the service: only the call's own, none of the client's or the class's.
    var foreignHeaders: HTTPFields {
        var headers: HTTPFields = ["User-Agent": ClientState.userAgent, "Accept": endpoint.accepted]
        for header in plan.headers { header.bind(to: &headers) }
        return headers
    }

    func request(url: URL, headers: HTTPFields) throws -> ServiceRequest {
        var request = ServiceRequest(method: plan.method, url: url, headers: headers, sharing: endpoint.requestDetails)
        if !plan.secretArguments.isEmpty || !plan.secretTexts.isEmpty { request.secrets = secrets }
        if !plan.commonHeaders.isEmpty { try bindCommonHeaders(&request.headers) }
        try bindHeaders(&request.headers)
        try bindBody(&request)
        return request
    }

    /// The secrets in the request: the client's secret fields, and the values of arguments with secret labels.
    var secrets: RequestSecrets? { RequestSecrets(rules: endpoint.headerRules, texts: secretTexts) }

    /// The values of arguments with secret labels, and the secrets of a stored call.
    var secretTexts: [String] {
        var texts = plan.secretTexts
        for position in plan.secretArguments where arguments.indices.contains(position) {
            guard let argument = arguments[position] else { continue }
            if let text = try? ArgumentText.text(of: argument) {
                texts.append(text)
            } else if let fields = try? FieldReflection(arrays: .repeatedKey).fields(of: argument, named: "value") {
                texts += fields.compactMap(\.value)
            }
        }
        return texts
    }

    func error(_ position: Int, _ place: String, _ reason: String) -> ArgumentError {
        ArgumentError(argument: plan.names.description(of: position), place: place, reason: reason)
    }

    /// The text of an argument; `nil` for `nil`.
    func text(_ position: Int, in place: String, dates: FieldReflection.DateStrategy = .iso8601) throws -> String? {
        guard let argument = arguments[position] else { return nil }
        do {
            return try ArgumentText.text(of: argument, dates: dates)
        } catch {
            throw self.error(position, place, reason(error, position))
        }
    }

    /// Why an argument can't go into its place.
    func reason(_ error: any Error, _ position: Int) -> String {
        arguments[position] is any QueryArgument ? Self.misplacedQuery(position) : ServiceError.text(of: error)
    }

    static func misplacedQuery(_ position: Int) -> String {
        "it is a query: give the endpoint .query(.argument(\(position))), or pass the query to the client's own methods, such as fetch(_:)."
    }

    /// A template filled with its arguments, each passed through `encode`; `nil` if an argument is `nil`.
    func text(
        _ template: Template, in place: String, dates: FieldReflection.DateStrategy = .iso8601,
        encode: (_ value: String, _ position: Int) throws -> String
    ) throws -> String? {
        if let literal = template.literal { return literal }
        var result = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let text):
                result += text
            case .argument(let position):
                guard let value = try text(position, in: place, dates: dates) else { return nil }
                result += try encode(value, position)
            }
        }
        return result
    }
}

/// An argument that is a complete query, such as OData's, and prints its own items.
package protocol QueryArgument: Sendable {
    /// Returns the percent-encoded query items that follow the `?`.
    ///
    /// - Parameters:
    ///   - path: The endpoint's path with its arguments, percent-encoded.
    ///   - serializer: The endpoint's serializer, which knows the service's version.
    func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String
}

// Binds arguments outside the path: query items, headers, the body.
extension RequestBinder {
    func text(of part: EndpointPlan.Query, at path: String) throws -> String {
        switch part {
        case .fixed(let text):
            return text
        case .pair(let name, let value):
            guard let name = try text(name, in: "the query", encode: { value, _ in URLEncoding.queryName(value) }) else { return "" }
            guard let value else { return name }
            let text = try text(value, in: "the query", dates: endpoint.fields.dates) { value, _ in URLEncoding.queryValue(value) }
            return text.map { name + "=" + $0 } ?? ""
        case .named(let name, let position, let style):
            return try item(position, named: name, style)
        case .reflected(let position):
            guard let query = arguments[position] as? any QueryArgument else { return try fields(position, in: "the query", name: nil) }
            do {
                return try query.queryItems(at: path, serializer: endpoint.serializer)
            } catch {
                throw self.error(position, "the query", String(describing: error))
            }
        }
    }

    func fields(_ position: Int, in place: String, name: String?) throws -> String {
        URLEncoding.query(of: try reflect(position, in: place, name: name))
    }

    func reflect(
        _ position: Int, in place: String, name: String?, arrays: FieldReflection.ArrayStrategy? = nil
    ) throws -> [ReflectedField] {
        var fields = endpoint.fields
        if let arrays {
            // Headers have their own names, and dates in ISO 8601.
            fields = FieldReflection(arrays: arrays)
        }
        guard let argument = arguments[position] else {
            // A nil without a name has no field.
            return name == nil || fields.missing == .leftOut ? [] : try fields.fields(of: Optional<Int>.none as Any, named: name)
        }
        do {
            return try fields.fields(of: argument, named: name)
        } catch {
            throw self.error(position, place, reason(error, position))
        }
    }

    /// Adds the headers of client and class with placeholders. A value with a `nil` argument is omitted.
    func bindCommonHeaders(_ headers: inout HTTPFields) throws {
        for (name, templates) in plan.commonHeaders {
            for template in templates {
                if let value = try value(of: template, in: name) { headers.append(name, value) }
            }
        }
    }

    /// The value of a header by its template; `nil` if an argument is `nil`.
    private func value(of template: Template, in name: HTTPFields.Name) throws -> String? {
        var last = 0
        let whole = try text(template, in: "the header \(name)") { value, position in
            last = position
            return try check(value, position, "the header \(name)")
        }
        if let whole { try checkEnds(whole, last, "the header \(name)") }
        return whole
    }

    func bindHeaders(_ headers: inout HTTPFields) throws {
        for header in plan.headers {
            switch header {
            case .fixed, .bound:
                break
            case .template(let name, let template):
                headers[name] = try value(of: template, in: name)
            case .reflected(let position):
                var fields = HTTPFields()
                // A header name can't mark a list as `name[]` does, so only the comma strategy differs.
                let arrays: FieldReflection.ArrayStrategy = endpoint.settings.arrays == .comma ? .comma : .repeatedKey
                for field in try reflect(position, in: "the headers", name: nil, arrays: arrays) {
                    let name = HTTPFields.Name(field.name)
                    guard name.isValid else { throw error(position, "the headers", "\"\(field.name)\" isn't a valid header name.") }
                    guard let value = field.value else { continue }
                    fields.append(name, try check(value, position, "the header \(name)"))
                    try checkEnds(value, position, "the header \(name)")
                }
                headers.replace(with: fields)
            case .argument(let name, let position, let style):
                headers[name] = try value(of: position, in: name, style)
            case .cookie(let name, let position, let style):
                try addCookie(name, position, style, to: &headers)
            }
        }
    }

    /// The cache identifier with the arguments unmasked, because it stays in the program's own memory and files.
    func cacheIdentifier() throws -> String? {
        guard let template = plan.cacheIdentifier else { return nil }
        return try text(template, in: "the cache identifier") { value, _ in value }
    }

    /// The identifier by which the call is found, shared or replaced.
    ///
    /// - Throws: ``ArgumentError`` for a `nil` argument: two calls with it would have the same identifier, or none.
    func identifier() throws -> CallIdentifier? {
        guard let (template, policy) = plan.identifier.map({ ($0.template, $0.policy) }) else { return nil }
        let place = "the call's identifier"
        if let text = try text(template, in: place, encode: { value, _ in value }) { return CallIdentifier(text, policy) }
        let position = template.arguments.first { position in arguments[position].map { ResultKind.isNil($0) } ?? true } ?? 0
        throw error(position, place, "it is nil: use a value, or leave the argument out of .identifier(_:_:).")
    }

    func check(_ value: String, _ position: Int, _ place: String) throws -> String {
        if let fault = URLEncoding.headerFault(in: value) { throw error(position, place, "\(fault).") }
        return value
    }

    /// Throws if a value begins or ends with a blank, which receivers strip (RFC 9110 §5.5).
    func checkEnds(_ value: String, _ position: Int, _ place: String) throws {
        func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard isBlank(value.utf8.first) || isBlank(value.utf8.last) else { return }
        throw error(position, place, "the field's value begins or ends with a blank, which receivers strip; remove the blank.")
    }

    func bindBody(_ request: inout ServiceRequest) throws {
        guard let position = plan.body, let argument = arguments[position], !ResultKind.isNil(argument) else { return }
        if argument is any QueryArgument { throw error(position, "the body", Self.misplacedQuery(position)) }
        if let types = plan.bodyTypes { return try bindBody(argument, position, types.types, choice: types.choice, to: &request) }
        let body = try BodyEncoder(serializer: endpoint.serializer)
            .body(of: argument, name: plan.names.description(of: position))
        request.body = body
        guard let type = body.contentType else { return }
        // A serializer's output has the serializer's type. Raw bytes may be declared as another type.
        let isAsGiven = (argument is Data || argument is RequestBody) && !body.contentTypeIsBinding
        if isAsGiven, declaresContentType(in: request.headers) { return }
        request.headers[.contentType] = type
    }

    /// Whether the endpoint itself, not the class or the client, sets the `Content-Type`.
    func declaresContentType(in headers: HTTPFields) -> Bool {
        guard headers.contains(.contentType) else { return false }
        return plan.headers.contains { header in
            switch header {
            case .fixed(let name, _), .bound(let name, _), .template(let name, _): name == .contentType
            case .reflected: headers[.contentType] != endpoint.headers[.contentType]
            case .argument(let name, _, _): name == .contentType
            case .cookie: false
            }
        }
    }
}

/// Makes the body of a request from an argument.
struct BodyEncoder {
    let serializer: any SerializationDelegate

    /// Returns the body of a value: bytes unchanged, forms as multipart, any `Encodable` through the serializer.
    ///
    /// - Throws: ``BodyEncodingError``, whose cause is the encoder's own error.
    func body(of value: any Sendable, name: String) throws -> RequestBody {
        switch value {
        case let body as RequestBody:
            return body
        case let upload as StreamUpload:
            return upload.body(with: serializer)
        case let data as Data:
            return RequestBody(data, contentType: "application/octet-stream")
        case let form as MultipartForm:
            do {
                return try form.body()
            } catch {
                throw BodyEncodingError(argument: name, cause: error)
            }
        case let encodable as any Encodable:
            do {
                var data = try serializer.encode(encodable)
                let hasUnorderedKeys = (serializer as? JSONSerializer)?.hasUnorderedKeys ?? false
                // Sorted keys make dry runs comparable. Sort before preparers run, because they may sign the body.
                if hasUnorderedKeys, DryRun.current != nil { data = JSONKeyOrder.sorted(data) }
                var body = RequestBody(data, contentType: serializer.contentType)
                body.hasUnorderedKeys = hasUnorderedKeys
                return body
            } catch {
                throw BodyEncodingError(argument: name, cause: error)
            }
        default:
            throw ArgumentError(
                argument: name, place: "the body",
                reason: "\(type(of: value)) isn't Encodable; make it so, or pass Data, a RequestBody or a MultipartForm.")
        }
    }
}
