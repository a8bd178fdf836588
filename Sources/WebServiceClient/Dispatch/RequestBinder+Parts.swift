import Foundation

/// An argument that is a query as a whole, such as OData's, and writes its items itself.
package protocol QueryArgument: Sendable {
    /// The query items as they stand behind the `?`, percent-encoded.
    ///
    /// - Parameters:
    ///   - path: the endpoint's path with its arguments, percent-encoded.
    ///   - serializer: the endpoint's serializer, which knows the version that the service speaks.
    func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String
}

// What arguments become beside the path: query items, headers, the body.
extension RequestBinder {
    func text(of part: EndpointPlan.Query, at path: String) throws -> String {
        switch part {
        case .fixed(let text):
            return text
        case .pair(let name, let value):
            guard let name = try text(name, in: "the query", encode: { value, _ in URLEncoding.queryName(value) }) else { return "" }
            guard let value else { return name }
            return try text(value, in: "the query", encode: { value, _ in URLEncoding.queryValue(value) }).map { name + "=" + $0 } ?? ""
        case .named(let name, let position):
            return try fields(position, in: "the query item \(name)", name: name)
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
        guard let argument = arguments[position] else { return [] }
        do {
            return try FieldReflection(arrays: arrays ?? endpoint.settings.arrays ?? .repeatedKey).fields(of: argument, named: name)
        } catch {
            throw self.error(position, place, reason(error, position))
        }
    }

    func bindHeaders(_ headers: inout HTTPFields) throws {
        for header in plan.headers {
            switch header {
            case .fixed:
                break
            case .template(let name, let template):
                var last = 0
                let whole = try text(template, in: "the header \(name)") { value, position in
                    last = position
                    return try check(value, position, "the header \(name)")
                }
                if let whole { try checkEnds(whole, last, "the header \(name)") }
                headers[name] = whole
            case .reflected(let position):
                var fields = HTTPFields()
                // A name can't say that it is one of a list, so that only the comma differs.
                let arrays: FieldReflection.ArrayStrategy = endpoint.settings.arrays == .comma ? .comma : .repeatedKey
                for field in try reflect(position, in: "the headers", name: nil, arrays: arrays) {
                    let name = HTTPFields.Name(field.name)
                    guard name.isValid else { throw error(position, "the headers", "\"\(field.name)\" is no header name.") }
                    guard let value = field.value else { continue }
                    fields.append(name, try check(value, position, "the header \(name)"))
                    try checkEnds(value, position, "the header \(name)")
                }
                headers.replace(with: fields)
            }
        }
    }

    /// The cache identifier with the arguments as they are: it goes nowhere but into the program's own memory and files.
    func cacheIdentifier() throws -> String? {
        guard let template = plan.cacheIdentifier else { return nil }
        return try text(template, in: "the cache identifier") { value, _ in value }
    }

    func check(_ value: String, _ position: Int, _ place: String) throws -> String {
        if let fault = URLEncoding.headerFault(in: value) { throw error(position, place, "\(fault).") }
        return value
    }

    /// Receivers take blanks at the ends of a field's value away (RFC 9110 §5.5).
    func checkEnds(_ value: String, _ position: Int, _ place: String) throws {
        func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard isBlank(value.utf8.first) || isBlank(value.utf8.last) else { return }
        throw error(position, place, "the field's value begins or ends with a blank, which every receiver takes away; trim or fill it.")
    }

    func bindBody(_ request: inout ServiceRequest) throws {
        guard let position = plan.body, let argument = arguments[position], !ResultKind.isNil(argument) else { return }
        if argument is any QueryArgument { throw error(position, "the body", Self.misplacedQuery(position)) }
        let body = try BodyEncoder(serializer: endpoint.serializer)
            .body(of: argument, name: plan.names.description(of: position))
        request.body = body
        guard let type = body.contentType else { return }
        // What the serializer wrote is what the serializer says; bytes as they are may be declared to be something else.
        let isAsGiven = (argument is Data || argument is RequestBody) && !body.contentTypeIsBinding
        if isAsGiven, declaresContentType(in: request.headers) { return }
        request.headers[.contentType] = type
    }

    /// Whether the endpoint itself, not the class or the client, has set the `Content-Type`.
    func declaresContentType(in headers: HTTPFields) -> Bool {
        guard headers.contains(.contentType) else { return false }
        return plan.headers.contains { header in
            switch header {
            case .fixed(let name, _), .template(let name, _): name == .contentType
            case .reflected: headers[.contentType] != endpoint.headers[.contentType]
            }
        }
    }
}
