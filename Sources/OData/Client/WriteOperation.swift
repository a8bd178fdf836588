import Foundation
public import WebServiceClient

/// One change as it is sent. All writes pass through here, into the same interceptor chain as all reads.
struct WriteOperation: Sendable {
    /// The kinds of changes.
    enum Kind: Sendable {
        case creation, update, replacement, upsert, deletion
        /// Several entities of a collection are changed.
        case delta
        /// A property or a stream is written or removed.
        case value
        /// A relation between existing entities is added, set or removed.
        case reference
        case action
    }

    let kind: Kind
    var method: ServiceRequest.Method
    var query: ODataQuery
    /// The body as a payload; `nil` for none.
    var body: ODataValue?
    /// The body as bytes, with their media type.
    var bytes: (body: RequestBody, type: String)?
    /// Whether the response has a payload, although the body has another media type.
    var answersPayload = false
    /// The URL of the resource by one of the service's links, in place of the query's.
    var link: RoutedLink?
    var condition = WriteCondition.none
    var preference: ReturnPreference?
    /// An option appended after the others, percent-encoded.
    var lastOption: String?

    var hasBody: Bool { body != nil || bytes != nil }
    /// Whether the change requires an existing entity, regardless of the condition.
    var isUpdate: Bool { kind == .update || kind == .replacement }

    /// Returns whether creating an entity would be the wrong result.
    func mustExist(_ version: ODataVersion) -> Bool {
        // Deleting never creates anything (RFC 9110, section 9.3.5).
        if method == .delete { return true }
        if condition.header(version)?.name == "If-Match" { return true }
        return isUpdate && condition == .usual
    }

    init(_ kind: Kind, _ method: ServiceRequest.Method, _ query: ODataQuery) {
        self.kind = kind
        self.method = method
        self.query = query
    }

    /// Creates a change of a request's resource.
    ///
    /// - Parameter answers: Whether the service may return the entity. The request's selection and expansions then apply to the response
    ///   (Protocol 4.01, section 11.4.1.5), but only in 4.01, since earlier services don't support that. An automatic selection is omitted.
    /// - Throws: ``ODataQueryError`` if the request has options that filter, order or page entities, or that shape a response that has
    ///   none.
    init(
        _ kind: Kind, _ method: ServiceRequest.Method, _ resource: ResourcePath, for options: QueryOptions, answers: Bool = false,
        version: ODataVersion
    ) throws(ODataQueryError) {
        var kept = QueryOptions()
        kept.keepWhole(of: options)
        if method == .post { kept.index = options.index }
        let shape = answers ? ["$select", "$expand"] : []
        if let option = options.ownNames.first(where: { !shape.contains($0) && !($0 == "$index" && method == .post) }) {
            throw .invalidOption(option, reason: "it applies only to reading; remove it from the request of a change")
        }
        if answers, version > .v4 {
            if case .items = options.selection { kept.selection = options.selection }
            kept.expansions = options.expansions
        }
        self.init(kind, method, ODataQuery(resource, options: kept))
    }
}

extension ODataClient {
    /// The spelling of bodies.
    var payloadFormat: PayloadFormat {
        PayloadFormat(version: printer.version, isIEEE754Compatible: asksForIEEE754Compatible, v2Bindings: v2Bindings)
    }

    /// The encoder of bodies.
    var encoder: ODataEncoder {
        ODataEncoder(payloadFormat, types: types, userInfo: userInfo)
    }

    /// Returns a change of a request's resource.
    func operation(
        _ kind: WriteOperation.Kind, _ method: ServiceRequest.Method, _ resource: ResourcePath, for options: QueryOptions,
        answers: Bool = false
    ) throws -> WriteOperation {
        do throws(ODataQueryError) {
            return try WriteOperation(kind, method, resource, for: options, answers: answers, version: printer.version)
        } catch {
            throw self.error(ODataOperation(resource), .binding, .query, error.description, cause: error)
        }
    }

    /// Returns the call of a change.
    ///
    /// - Throws: `ServiceError` if it can't be written, or doesn't fit the service's model.
    func call(_ operation: WriteOperation, for result: Any.Type = Void.self) throws -> ServiceCall {
        try check(operation)
        let name = ODataOperation(operation.query)
        let query = operation.query
        // Raw bytes have any media type, and so may the response to them.
        let place: ResultPlace? = operation.answersPayload ? .payload : operation.bytes == nil ? nil : .raw
        let isTunneled = tunnelsMethods && operation.method != .post && BatchScope.current == nil
        let method = isTunneled ? .post : operation.method
        var call: ServiceCall
        if let link = operation.link {
            call = self.call(name, link: link.url, isForeign: link.isForeign, method: method, at: place)
        } else {
            var target = try printed(name) { printer throws(ODataQueryError) in try printer.request(query) }
            if let option = operation.lastOption { target += (target.contains("?") ? "&" : "?") + option }
            call = self.call(name, to: target, method: method, for: result, at: place)
        }
        if isTunneled { call = call.header("X-HTTP-Method", operation.method.rawValue) }
        if let (body, type) = operation.bytes {
            call = call.body(body).header(.contentType, type)
        } else if let body = operation.body {
            call = call.body(body)
        } else {
            call = call.withoutBody()
        }
        if operation.hasBody, printer.version != .v2 { call = call.header("OData-Version", printer.version.rawValue) }
        if let header = operation.condition.header(printer.version) { call = call.header(header.name, header.value) }
        if operation.link?.isForeign != true { call = repeatable(call, name.headers) }
        guard let preference = operation.preference?.rawValue else { return call }
        return preferring(call, [preference] + name.preferences)
    }

    /// Compares a change with the service's model, if the program asks for that.
    func check(_ operation: WriteOperation) throws {
        try (WriteCheckScope.current ?? writeCheck)?.check(operation, of: self)
    }

    /// Sends a change of an entity.
    func write<Entity>(_ operation: WriteOperation, _ type: Entity.Type) async throws -> WriteResult<Entity> {
        let response: ServiceResponse<ODataEntity<Entity>?> = try await self.response(
            try call(operation), ODataOperation(operation.query.resource), for: .changing(mustExist: operation.mustExist(printer.version)))
        return WriteResult(response)
    }

    /// Sends a change whose response has no content.
    func send(_ operation: WriteOperation, for purpose: CallPurpose? = nil) async throws {
        _ = try await confirmed(
            try call(operation), ODataOperation(operation.query.resource),
            for: purpose ?? .changing(mustExist: operation.mustExist(printer.version)))
    }

    /// Sends the call of a change whose response has no content, and returns the response's fields.
    func confirmed(_ call: ServiceCall, _ operation: ODataOperation, for purpose: CallPurpose) async throws -> HTTPFields {
        do {
            let response: ServiceResponse<Confirmation?> = try await self.response(call, operation, for: purpose)
            return response.headers
        } catch var error as ServiceError where error.stage == .decoding {
            // The caller asked for no type. The rest of the message has its secrets masked already.
            let start = "The body can't be read as \(Confirmation?.self)"
            if error.message.hasPrefix(start) {
                error.message = "The answer doesn't confirm the change" + error.message.dropFirst(start.count)
            }
            throw error
        }
    }

    /// Returns the payload of an entity that is written as a whole.
    ///
    /// - Parameters:
    ///   - writing: Whether the entity is created or exists; `nil` if it may be either.
    ///   - declared: The type of the collection's entities.
    func body(
        of entity: any Encodable & Sendable, _ bindings: [EntityBinding], _ resource: ResourcePath, writing: ItemWriting? = nil,
        declared: Any.Type
    ) throws -> ODataValue {
        try payload(resource) {
            let value = try encoder.payload(of: entity)
            guard case .object(let object) = value else { throw ODataWriteError.notAnEntity("\(Swift.type(of: entity))") }
            let checked = try checked(object.withoutControl, of: entity, in: writing, declared: declared)
            return .object(try bound(checked, bindings, isUpdate: false))
        }
    }

    /// Returns an entity's payload with its bindings.
    func bound(_ entity: DynamicEntity, _ bindings: [EntityBinding], isUpdate: Bool) throws -> DynamicEntity {
        var bound = entity
        for (index, binding) in bindings.enumerated() {
            // For a to-one relation, the last binding applies.
            guard binding.isCollection || !bindings[(index + 1)...].contains(where: { $0.relation == binding.relation }) else { continue }
            let isDelta = binding.isDelta(in: payloadFormat.version, isUpdate: isUpdate)
            guard binding.fits(entity[binding.relation], isDelta: isDelta) else { throw ODataWriteError.boundAndInline(binding.relation) }
            try binding.write(to: &bound, payloadFormat, isUpdate: isUpdate) { try self.url(of: $0) }
        }
        return bound
    }

    /// Returns the URL of a reference, without the query of the service's root, which applies only to this client's calls.
    func url(of reference: EntityReference) throws -> String {
        switch reference.target {
        case .id(let id):
            do throws(ODataQueryError) {
                return try BatchScope.resolved(id)
            } catch {
                throw self.error(ODataOperation(route: "reference"), .binding, .query, error.description, cause: error)
            }
        case .resource(let query):
            let operation = ODataOperation(query.resource)
            let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(query) }
            // A reference to a part of a batch is relative to nothing.
            if BatchScope.isReference(target) { return target }
            // GET, because a posted long query would change the entity's URL.
            let url = try call(operation, to: target, method: .get).url().absoluteString
            return String(url.prefix { $0 != "?" }) + target.drop { $0 != "?" }
        }
    }

    /// Runs a closure that makes a body; its errors name the operation.
    func payload<Value>(_ resource: ResourcePath, _ make: () throws -> Value) throws -> Value {
        do {
            return try make()
        } catch let error as ServiceError {
            throw error
        } catch {
            throw self.error(
                ODataOperation(resource), .binding, .encoding, "The body can't be made: \(ServiceError.text(of: error))", cause: error)
        }
    }
}

/// Compares changes with the model of the service before they are sent.
protocol WriteChecking: Sendable {
    func check(_ operation: WriteOperation, of client: ODataClient) throws
}

/// The check of the changes that a closure makes, in place of their client's.
enum WriteCheckScope {
    @TaskLocal static var current: (any WriteChecking)?
}

/// The reason why a change can't be written.
public enum ODataWriteError: DescribedError, Sendable, Hashable {
    /// A draft's relation was changed as a value.
    case relationChanged(String)
    /// A value of this type was written as an entity but doesn't encode to an object.
    case notAnEntity(String)
    /// A relation is bound to an existing entity, and the written entity contains a related entity as well.
    case boundAndInline(String)
    /// A property of an item can't be set in this change, by the service's metadata.
    case notSettable(String, reason: String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .relationChanged(let name):
            "The relation '\(name)' was changed as a value: bind existing entities with bind(_:to:), or use addReference, setReference and "
                + "removeReference; create new ones by creating them in the relation."
        case .notAnEntity(let type):
            "\(type) doesn't encode to an object with properties: write a structure, a class or a DynamicEntity."
        case .boundAndInline(let name):
            "The relation '\(name)' is bound to an existing entity and also contains a new one: remove one of them."
        case .notSettable(let name, let reason):
            "The property '\(name)' can't be set: \(reason). Leave it out, as writable(in:) does, or set the client's checksItems to "
                + "false if the metadata are wrong."
        }
    }
}
