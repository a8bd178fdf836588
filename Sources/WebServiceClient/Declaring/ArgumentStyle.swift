/// The form in which an argument becomes a query item, a header field or a cookie.
public enum ArgumentFormat: String, Sendable, Hashable, CaseIterable {
    /// As fields: texts, lists and structures by the strategies of ``FieldReflection``.
    case fields
    /// As one JSON text, whatever the value. The members of objects are sorted.
    case json
}

/// How an argument becomes a query item, a header field or a cookie; `nil` uses the endpoint's settings.
struct ArgumentStyle: Sendable, Hashable {
    var format = ArgumentFormat.fields
    var arrays: FieldReflection.ArrayStrategy?
    var objects: FieldReflection.ObjectStrategy?
    /// Whether the value of a query item keeps reserved characters.
    var keepsReserved = false

    init(
        format: ArgumentFormat = .fields, arrays: FieldReflection.ArrayStrategy? = nil, objects: FieldReflection.ObjectStrategy? = nil,
        keepsReserved: Bool = false
    ) {
        (self.format, self.arrays, self.objects, self.keepsReserved) = (format, arrays, objects, keepsReserved)
    }

    /// The style of a header field: lists and structures are one value.
    static func header(exploding: Bool, _ format: ArgumentFormat) -> ArgumentStyle {
        ArgumentStyle(format: format, arrays: .comma, objects: exploding ? .spread : .joined)
    }

    /// The style of a cookie.
    static func cookie(exploding: Bool, _ format: ArgumentFormat) -> ArgumentStyle {
        ArgumentStyle(format: format, arrays: exploding ? .repeatedKey : .comma, objects: exploding ? .spread : .joined)
    }

    /// The strategies for a value of an endpoint with these.
    func fields(_ own: FieldReflection) -> FieldReflection {
        var fields = own
        fields.arrays = arrays ?? own.arrays
        fields.objects = objects ?? own.objects
        return fields
    }

    private static let (arraysWord, objectsWord, reservedText) = ("arrays ", "objects ", "reserved characters kept")

    /// Reads what ``text`` writes; `nil` if the text is another one.
    init?(text: String) {
        for part in text.split(separator: ", ").map(String.init) {
            if let known = ArgumentFormat(rawValue: part) {
                format = known
            } else if part.hasPrefix(Self.arraysWord) {
                arrays = FieldReflection.ArrayStrategy(rawValue: String(part.dropFirst(Self.arraysWord.count)))
            } else if part.hasPrefix(Self.objectsWord) {
                objects = FieldReflection.ObjectStrategy(rawValue: String(part.dropFirst(Self.objectsWord.count)))
            } else {
                keepsReserved = part == Self.reservedText
            }
        }
        guard self.text == text else { return nil }
    }

    /// The parts that differ from the endpoint's settings; `nil` if there are none.
    var text: String? {
        var parts: [String] = []
        if format != .fields { parts.append(format.rawValue) }
        if let arrays { parts.append(Self.arraysWord + arrays.rawValue) }
        if let objects { parts.append(Self.objectsWord + objects.rawValue) }
        if keepsReserved { parts.append(Self.reservedText) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

/// How a property of a form is written (OpenAPI 3.1.1, "Encoding Object").
struct PropertyEncoding: Sendable, Hashable {
    /// The style of the property's fields; `nil` for the endpoint's settings.
    var style: ArgumentStyle?
    /// The media type of the property's parts or texts.
    var contentType: String?

    /// Whether the property is a JSON text.
    var isJSON: Bool {
        guard let type = contentType.flatMap({ MediaType($0) }) else { return false }
        return type.subtype == "json" || type.suffix == "json"
    }
}

/// The media types that an endpoint's body may have.
struct BodyTypes: Sendable, Hashable {
    /// The media types or ranges, such as `image/*`, in the order of preference.
    let types: [String]
    /// The argument that chooses one of them.
    let choice: EndpointArgument?
    /// How single properties of forms are written, by media type and property.
    var encodings: [String: [String: PropertyEncoding]] = [:]

    /// The encodings of a description, in a stable order.
    var described: [ClientDescription.PropertyEncoding] {
        encodings.sorted { $0.key < $1.key }.flatMap { type, properties in
            properties.sorted { $0.key < $1.key }.map { name, encoding in
                ClientDescription.PropertyEncoding(
                    mediaType: type, property: name, contentType: encoding.contentType, style: encoding.style.map { $0.text ?? "" })
            }
        }
    }

    /// The problem of a media type or range; `nil` if it is valid.
    static func problem(in text: String) -> String? {
        guard let type = MediaType(text), type.type != "*" || type.subtype == "*" else { return "\"\(text)\" isn't a media type" }
        return nil
    }
}

// The modifiers of single parameters: their wire form, and whether they may be left out.
extension EndpointDescriptor {
    /// Lets calls leave out the arguments with these labels, and pass the others in any order.
    ///
    ///     "search(text:page:size:)": .get("/search").query("q", .argument("text")).query("page", .argument("page"))
    ///         .query("size", .argument("size")).optional("page", "size")
    ///
    ///     func search(text: String) async throws -> [Item] { try await call(text) }
    ///     let items: [Item] = try await client.dynamic.search(size: 10, text: "swift")
    ///
    /// A method or a dynamic call with the key's base name and another set of labels uses the endpoint if its labels are among the key's,
    /// and every argument that isn't optional is there. An argument without a label is the first one that has no value yet. What is left
    /// out isn't sent. The other arguments can't be `nil`.
    public func optional(_ labels: String...) -> EndpointDescriptor {
        optional(labels)
    }

    func optional(_ labels: [String]) -> EndpointDescriptor {
        with { $0.optional = ($0.optional ?? []).union(labels) }
    }

    /// Gives an argument another name, such as the service's, which needn't be a label.
    ///
    ///     "pets(tag:)": .get(uriTemplate: "/pets{;pet-tag*}").alias("pet-tag", of: "tag")
    ///
    /// The variables of a URI template can have that name, percent-encoded where it isn't a variable's, and so can the names of
    /// ``NamedCall``.
    public func alias(_ name: String, of label: String) -> EndpointDescriptor {
        with { $0.aliases[name] = label }
    }

    /// Sets a header from an argument: a list becomes `a,b`, a structure `name,value,name,value`. `nil` omits the header.
    ///
    /// - Parameters:
    ///   - exploding: Whether a structure becomes `name=value,name=value`.
    ///   - format: Whether the value is a JSON text.
    public func header(
        _ name: HTTPFields.Name, _ argument: EndpointArgument, exploding: Bool = false, as format: ArgumentFormat = .fields
    ) -> EndpointDescriptor {
        with { $0.headers.append(.argument(name, argument, .header(exploding: exploding, format))) }
    }

    /// Adds a cookie from an argument to the request's `Cookie` field; its value is percent-encoded. `nil` adds none.
    ///
    /// It isn't one of the client's ``CookieJar``, whose cookies of other names are sent, too.
    ///
    /// - Parameters:
    ///   - exploding: Whether each element of a list and each field of a structure is a cookie. Otherwise they are one value, separated by
    ///     commas.
    ///   - format: Whether the value is a JSON text.
    public func cookie(
        _ name: String, _ argument: EndpointArgument, exploding: Bool = false, as format: ArgumentFormat = .fields
    ) -> EndpointDescriptor {
        with { $0.headers.append(.cookie(name, argument, .cookie(exploding: exploding, format))) }
    }

    /// Sets the media types that the body may have, the preferred one first. The body is written in the first that fits its type, with the
    /// client's serializer or the standard one of the media type.
    ///
    ///     "patch(id:change:type:)": .patch("/jobs/%%id%%").body(.argument("change"))
    ///         .bodyTypes("application/merge-patch+json", "application/json-patch+json", chosenBy: .argument("type"))
    ///
    /// - Parameters:
    ///   - types: Media types, or ranges such as `image/*`.
    ///   - choice: An argument that chooses one of them by its name; if it is `nil`, the first that fits is chosen.
    public func bodyTypes(_ types: String..., chosenBy choice: EndpointArgument? = nil) -> EndpointDescriptor {
        bodyTypes(types, chosenBy: choice)
    }

    func bodyTypes(_ types: [String], chosenBy choice: EndpointArgument?) -> EndpointDescriptor {
        with { $0.bodyTypes = BodyTypes(types: types, choice: choice) }
    }

    /// Sets the endpoint's own service root: a path on the client's origin, such as `/upload`, or an absolute URL.
    ///
    ///     "upload(id:file:)": .post("/releases/%%id%%/assets").body(.argument("file")).serviceRoot("https://uploads.github.com")
    ///
    /// The origin of an absolute URL must be the client's or one of ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``,
    /// since it gets the client's credentials; otherwise calls throw.
    public func serviceRoot(_ root: String) -> EndpointDescriptor {
        with { $0.serviceRoot = root }
    }
}
