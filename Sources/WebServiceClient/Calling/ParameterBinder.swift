import Foundation

// Binds query items, headers and cookies that have their own form.
extension RequestBinder {
    /// Throws if an argument that a call must pass is `nil`.
    func checkRequired() throws {
        for position in plan.required.sorted() where arguments[position].map({ ResultKind.isNil($0) }) ?? true {
            throw error(position, "the request", "it is nil, and the endpoint requires it.")
        }
    }

    /// The query items of an argument; empty if there are none.
    func item(_ position: Int, named name: String, _ style: ArgumentStyle) throws -> String {
        // An argument that the call leaves out isn't sent, whatever the strategy for nil.
        if let passed = plan.passed, passed[position] == nil { return "" }
        let fields = try fields(position, named: name, style, endpoint.fields, in: "the query item \(name)")
        return style.keepsReserved ? URLEncoding.query(keepingReservedOf: fields) : URLEncoding.query(of: fields)
    }

    /// The value of a header; `nil` if the argument is `nil` or empty.
    func value(of position: Int, in name: HTTPFields.Name, _ style: ArgumentStyle) throws -> String? {
        let place = "the header \(name)"
        var members: [String] = []
        // A header has no field names: a structure that is exploded is a list of pairs.
        for field in try fields(position, named: name.rawName, style, FieldReflection(arrays: .comma), in: place) {
            guard let value = field.value else { continue }
            members.append(style.objects == .spread && field.name != name.rawName ? "\(field.name)=\(value)" : value)
        }
        guard !members.isEmpty else { return nil }
        let value = try check(members.joined(separator: ","), position, place)
        try checkEnds(value, position, place)
        return value
    }

    /// Appends the cookies of an argument to the field.
    func addCookie(_ name: String, _ position: Int, _ style: ArgumentStyle, to headers: inout HTTPFields) throws {
        let place = "the cookie \(name)"
        for field in try fields(position, named: name, style, FieldReflection(arrays: .comma), in: place) {
            guard HTTPFields.Name.isToken(field.name) else { throw error(position, place, "\"\(field.name)\" isn't a valid cookie name.") }
            headers.addCookie(URLEncoding.query(of: [field]))
        }
    }

    /// The fields of an argument in a style.
    ///
    /// - Parameter own: The strategies that the style leaves open.
    private func fields(
        _ position: Int, named name: String, _ style: ArgumentStyle, _ own: FieldReflection, in place: String
    ) throws -> [ReflectedField] {
        guard let argument = arguments[position], !ResultKind.isNil(argument) else {
            return own.missing == .leftOut ? [] : try own.fields(of: Optional<Int>.none as Any, named: name)
        }
        if style.format == .json { return [ReflectedField(name: name, value: try json(argument, position, in: place))] }
        do {
            return try style.fields(own).fields(of: argument, named: name)
        } catch {
            throw self.error(position, place, reason(error, position))
        }
    }

    /// The serializer of JSON in parameters and forms, with the names and dates of the endpoint's fields.
    private var jsonSerializer: JSONSerializer {
        (endpoint.serializer as? JSONSerializer ?? JSONSerializer()).following(endpoint.fields)
    }

    private func json(_ argument: any Sendable, _ position: Int, in place: String) throws -> String {
        guard let value = argument as? any Encodable else {
            throw error(position, place, "\(type(of: argument)) isn't Encodable, so it can't be written as JSON.")
        }
        do {
            // Sorted members make equal values equal texts, for caches.
            let serializer = jsonSerializer
            let data = try serializer.encode(value)
            return String(decoding: serializer.hasUnorderedKeys ? JSONKeyOrder.sorted(data) : data, as: UTF8.self)
        } catch {
            throw self.error(position, place, "\(ServiceError.text(of: error))")
        }
    }

    /// The endpoint's own service root, if it has one.
    ///
    /// - Throws: ``InvalidRequest`` if that root isn't part of the service.
    func ownRoot(_ root: ServiceRoot) throws -> ServiceRoot {
        switch plan.serviceRoot {
        case nil: return root
        case .path(let path)?:
            let query = root.query.isEmpty ? "" : "?" + root.query
            return ServiceRoot(ServiceRoot.authority(of: root.base) + path + query) ?? root
        case .absolute(let own)?:
            guard own.origin == root.origin || allowedOrigins.contains(own.origin) else {
                throw InvalidRequest(
                    message: "The endpoint's own service root has the origin \(own.origin), and the service's is \(root.origin): if it "
                        + "belongs to the service, add it to Configuration.allowedOrigins.")
            }
            return own
        }
    }
}

// Binds a body whose media type is one of several.
extension RequestBinder {
    func bindBody(
        _ argument: any Sendable, _ position: Int, _ types: [MediaType], choice: Int?, to request: inout ServiceRequest
    ) throws {
        let chosen = try choice.flatMap { try chosenType($0, among: types) }
        let candidates = chosen.map { [$0] } ?? types
        let name = plan.names.description(of: position)
        switch argument {
        case is RequestBody, is Data, is StreamUpload:
            let encoder = BodyEncoder(serializer: endpoint.serializer)
            var body = try encoder.body(of: argument, name: name)
            // Bytes have the type that the endpoint declares; a body that the program made has its own.
            if argument is Data || body.contentType == nil {
                let type = candidates.first { !$0.isRange && $0.essence != "multipart/form-data" }
                body.contentType = type?.description ?? body.contentType
            }
            request.body = body
        case let form as MultipartForm:
            request.body = try BodyEncoder(serializer: endpoint.serializer).body(of: form, name: name)
        case let value as any Encodable:
            request.body = try body(of: value, argument, position, candidates)
        default:
            throw error(position, "the body", "\(type(of: argument)) isn't Encodable; pass Data, a RequestBody or a MultipartForm.")
        }
        if let type = request.body?.contentType, !declaresContentType(in: request.headers) || !(argument is Data) {
            request.headers[.contentType] = type
        }
    }

    /// The media type that an argument chooses; `nil` for `nil`.
    private func chosenType(_ position: Int, among types: [MediaType]) throws -> MediaType? {
        guard let text = try text(position, in: "the body's media type") else { return nil }
        guard let type = MediaType(text), !type.isRange, types.contains(where: { $0.covers(type) }) else {
            throw error(
                position, "the body's media type",
                "\"\(VisibleText.of(text))\" isn't one of the endpoint's: \(types.map(\.description).joined(separator: ", ")).")
        }
        return type
    }

    /// The body of a value in the first type that can be written.
    private func body(
        of value: any Encodable, _ argument: any Sendable, _ position: Int, _ types: [MediaType]
    ) throws -> RequestBody {
        for type in types {
            if type.essence == "multipart/form-data" { return try multipart(value, position) }
            if plan.bodyTypes?.encodings[type.essence] != nil { return try form(value, type, position) }
            guard let serializer = serializer(for: type, writing: value) else { continue }
            let name = plan.names.description(of: position)
            var body = try BodyEncoder(serializer: serializer).body(of: argument, name: name)
            if !type.isRange { body.contentType = type.description }
            return body
        }
        throw error(
            position, "the body",
            "no serializer writes \(types.map(\.description).joined(separator: ", ")); pass Data, or register a parser for the type.")
    }

    private func serializer(for type: MediaType, writing value: any Encodable) -> (any SerializationDelegate)? {
        let own = endpoint.serializer
        if let media = MediaType(own.contentType), type.covers(media) || type.suffix.map({ "application/" + $0 }) == media.essence {
            return own
        }
        if type.isRange { return type.essence == "*/*" ? own : nil }
        guard let found = endpoint.decoder.parsers.delegate(for: type) else { return nil }
        if found is PlainTextSerializer { return value is String ? found : nil }
        if found is RawDataSerializer { return nil }
        return (found as? FormSerializer)?.following(endpoint.fields) ?? found
    }

    // MARK: Forms

    /// The entries of a form.
    private func entries(of value: any Encodable, readingBytes: Bool) throws -> [(name: String, value: FieldTree)] {
        let builder = FieldTreeBuilder(
            depthLimit: 32, keys: endpoint.fields.keys, dates: endpoint.fields.dates, readsBytes: readingBytes)
        guard case .record(let entries) = try builder.tree(of: value, at: .root, depth: 0) else {
            throw ReflectionError(.noName, at: .root, type: type(of: value))
        }
        return entries
    }

    /// The entries of a form as JSON, with the names and dates of its fields.
    private func members(of value: any Encodable) -> FormMembers {
        FormMembers(value: value, serializer: jsonSerializer)
    }

    private func encoding(_ name: String, _ type: String) -> PropertyEncoding? { plan.bodyTypes?.encodings[type]?[name] }

    /// A form with encodings of single properties.
    private func form(_ value: any Encodable, _ type: MediaType, _ position: Int) throws -> RequestBody {
        do {
            var members = members(of: value)
            var fields: [ReflectedField] = []
            for entry in try entries(of: value, readingBytes: false) {
                let own = encoding(entry.name, type.essence)
                if let own, own.isJSON, own.style == nil, !entry.value.isMissing {
                    fields.append(ReflectedField(name: entry.name, value: try members.member(entry.name).description))
                } else {
                    let strategies = own?.style?.fields(endpoint.fields) ?? endpoint.fields
                    fields += try strategies.fields(of: entry.value, named: entry.name, type: Swift.type(of: value))
                }
            }
            return RequestBody(Data(URLEncoding.form(of: fields).utf8), contentType: type.description)
        } catch {
            throw self.error(position, "the body", reason(error, position))
        }
    }

    /// A form with a part for each field of a value, and for each element of a list. Structures are JSON, and `Data` is a file whose name
    /// is the field's, since servers take a part without a file name for a text (OpenAPI 3.1.1, "Encoding Object").
    private func multipart(_ value: any Encodable, _ position: Int) throws -> RequestBody {
        var form = MultipartForm()
        do {
            var members = members(of: value)
            for entry in try entries(of: value, readingBytes: true) {
                let own = encoding(entry.name, "multipart/form-data")
                func append(_ tree: FieldTree, _ json: () throws -> JSONValue) throws {
                    switch tree {
                    case .missing: return
                    case .text(let text) where own?.isJSON != true:
                        form.append(MultipartForm.Part(name: entry.name, contentType: own?.contentType, content: .data(Data(text.utf8))))
                    case .bytes(let data):
                        form.append(.data(entry.name, data, fileName: entry.name, contentType: own?.contentType))
                    case .text, .list, .record:
                        let type = own?.isJSON == true ? own?.contentType : nil
                        form.append(.data(entry.name, Data(try json().description.utf8), contentType: type ?? "application/json"))
                    }
                }
                if case .list(let elements) = entry.value, own?.isJSON != true {
                    for (index, element) in elements.enumerated() { try append(element) { try members.member(entry.name, index) } }
                } else {
                    try append(entry.value) { try members.member(entry.name) }
                }
            }
            return try form.body()
        } catch {
            throw self.error(position, "the body", reason(error, position) + " Pass a MultipartForm for parts of other kinds.")
        }
    }
}

/// The properties of a form as JSON. The form is encoded when the first of them is needed, since only JSON may refuse its other values.
private struct FormMembers {
    let value: any Encodable
    let serializer: JSONSerializer
    private var whole: JSONValue?

    init(value: any Encodable, serializer: JSONSerializer) {
        (self.value, self.serializer) = (value, serializer)
    }

    /// The value of a property, or of an element of its list.
    ///
    /// - Throws: ``ReflectionError`` if there is none, so that nothing is left out silently; or the error of the encoder.
    mutating func member(_ name: String, _ index: Int? = nil) throws -> JSONValue {
        let whole = try self.whole ?? JSONReader().decode(JSONValue.self, from: JSONKeyOrder.sorted(serializer.encode(value)))
        self.whole = whole
        let member = whole[name]
        guard let found = index.map({ member?[$0] }) ?? member else {
            let path = FieldPath.key(name, .root)
            throw ReflectionError(.noJSONMember, at: index.map { .index($0, path) } ?? path, type: type(of: value))
        }
        return found
    }
}

extension MediaType {
    /// Whether the type is a range, such as `image/*`.
    var isRange: Bool { type == "*" || subtype == "*" }

    /// Whether a type is within this type or range; parameters don't count.
    func covers(_ other: MediaType) -> Bool {
        type == "*" || type == other.type && (subtype == "*" || subtype == other.subtype)
    }
}
