import Foundation
public import WebServiceClient

/// One change as it is sent: all that writes goes through here, into the same chain as all that reads.
struct WriteOperation: Sendable {
    var method: ServiceRequest.Method
    var query: ODataQuery
    /// The body as a payload; `nil` for none.
    var body: ODataValue?
    /// The body as bytes, with their media type.
    var bytes: (data: Data, type: String)?
    var condition = WriteCondition.none
    var preference: ReturnPreference?
    /// Whether the change is one of an entity that must be there, whatever the condition says.
    var isUpdate = false
    /// An option that stands behind the others, percent-encoded.
    var lastOption: String?

    var hasBody: Bool { body != nil || bytes != nil }

    /// Whether a service that creates an entity does something else than it was asked for.
    func mustExist(_ version: ODataVersion) -> Bool {
        if condition.header(version)?.name == "If-Match" { return true }
        return isUpdate && condition == .usual
    }

    init(_ method: ServiceRequest.Method, _ query: ODataQuery) {
        self.method = method
        self.query = query
    }

    /// A change of what a request is for.
    ///
    /// - Parameter answers: whether the service may answer with the entity: then what was said about its shape is asked for (Protocol 4.01, section
    ///   11.4.1.5), in 4.01, before which services don't know it. A selection that nobody asked for isn't.
    /// - Throws: ``ODataQueryError`` where the request has options that say which entities are meant, or what of them where there is no answer.
    init(
        _ method: ServiceRequest.Method, _ resource: ResourcePath, for options: QueryOptions, answers: Bool = false, version: ODataVersion
    ) throws(ODataQueryError) {
        var kept = QueryOptions()
        kept.keepWhole(of: options)
        if method == .post { kept.index = options.index }
        let shape = answers ? ["$select", "$expand"] : []
        if let option = options.ownNames.first(where: { !shape.contains($0) && !($0 == "$index" && method == .post) }) {
            throw .invalidOption(option, reason: "it is for reading; give a change a request without it")
        }
        if answers, version > .v4 {
            if case .items = options.selection { kept.selection = options.selection }
            kept.expansions = options.expansions
        }
        self.init(method, ODataQuery(resource, options: kept))
    }
}

extension ODataClient {
    /// How bodies are spelled.
    var payloadFormat: PayloadFormat {
        PayloadFormat(version: printer.version, isIEEE754Compatible: asksForIEEE754Compatible, v2Bindings: v2Bindings)
    }

    /// What makes bodies.
    var encoder: ODataEncoder {
        ODataEncoder(payloadFormat, types: types, userInfo: userInfo)
    }

    /// A change of what a request is for.
    func operation(
        _ method: ServiceRequest.Method, _ resource: ResourcePath, for options: QueryOptions, answers: Bool = false
    ) throws -> WriteOperation {
        do throws(ODataQueryError) {
            return try WriteOperation(method, resource, for: options, answers: answers, version: printer.version)
        } catch {
            throw self.error(ODataOperation(resource), .binding, .query, error.description, cause: error)
        }
    }

    /// The call of a change.
    func call(_ operation: WriteOperation, for result: Any.Type = Void.self) throws -> ServiceCall {
        let name = ODataOperation(operation.query)
        let query = operation.query
        var target = try printed(name) { printer throws(ODataQueryError) in try printer.request(query) }
        if let option = operation.lastOption { target += (target.contains("?") ? "&" : "?") + option }
        // Bytes are of any media type, and so may be what a service answers them with.
        var call = call(name, to: target, method: operation.method, for: result, at: operation.bytes == nil ? nil : .raw)
        if let (data, type) = operation.bytes {
            call = call.body(data).header(.contentType, type)
        } else if let body = operation.body {
            call = call.body(body)
        } else {
            call = call.describing { $0.withoutBody() }
        }
        if operation.hasBody, printer.version != .v2 { call = call.header("OData-Version", printer.version.rawValue) }
        if let header = operation.condition.header(printer.version) { call = call.header(header.name, header.value) }
        guard let preference = operation.preference?.rawValue else { return call }
        return preferring(call, [preference] + name.preferences)
    }

    /// Sends a change of an entity.
    func write<Entity>(_ operation: WriteOperation, _ type: Entity.Type) async throws -> WriteResult<Entity> {
        let response: ServiceResponse<ODataEntity<Entity>?> = try await self.response(
            try call(operation), ODataOperation(operation.query.resource), for: .changing(mustExist: operation.mustExist(printer.version)))
        return WriteResult(response)
    }

    /// Sends a change whose answer has nothing in it.
    func send(_ operation: WriteOperation, for purpose: CallPurpose? = nil) async throws {
        let _: ServiceResponse<NoContent> = try await self.response(
            try call(operation), ODataOperation(operation.query.resource),
            for: purpose ?? .changing(mustExist: operation.mustExist(printer.version)))
    }

    /// The payload of an entity that is written as a whole.
    func body(of entity: any Encodable & Sendable, _ bindings: [EntityBinding], _ resource: ResourcePath) throws -> ODataValue {
        try payload(resource) {
            let value = try encoder.payload(of: entity)
            guard case .object(let object) = value else { throw ODataWriteError.notAnEntity("\(Swift.type(of: entity))") }
            return .object(try bound(object, bindings, isUpdate: false))
        }
    }

    /// An entity's payload with its bindings.
    func bound(_ entity: DynamicEntity, _ bindings: [EntityBinding], isUpdate: Bool) throws -> DynamicEntity {
        var bound = entity
        for (index, binding) in bindings.enumerated() {
            // Of a relation to one the last binding counts.
            guard binding.isCollection || !bindings[(index + 1)...].contains(where: { $0.relation == binding.relation }) else { continue }
            let isDelta = binding.isDelta(in: payloadFormat.version, isUpdate: isUpdate)
            guard binding.fits(entity[binding.relation], isDelta: isDelta) else { throw ODataWriteError.boundAndInline(binding.relation) }
            try binding.write(to: &bound, payloadFormat, isUpdate: isUpdate) { try self.url(of: $0) }
        }
        return bound
    }

    /// The URL that a reference is written as: without the query of the service's root, which is about this client's calls.
    func url(of reference: EntityReference) throws -> String {
        switch reference.target {
        case .id(let id): return id
        case .resource(let query):
            let operation = ODataOperation(query.resource)
            let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(query) }
            // Never as a long query: it is the entity's own URL that is meant.
            let url = try call(operation, to: target, method: .get).url().absoluteString
            return String(url.prefix { $0 != "?" }) + target.drop { $0 != "?" }
        }
    }

    /// What a closure makes of a body; its errors tell the operation.
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

/// Why a change can't be written.
public enum ODataWriteError: DescribedError, Sendable, Hashable {
    /// A draft's relation was changed as if it were a value.
    case relationChanged(String)
    /// What was to be written as an entity, by its type, makes no object.
    case notAnEntity(String)
    /// A relation is bound to an existing entity, and the entity that is written has one in it.
    case boundAndInline(String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .relationChanged(let name):
            "The relation '\(name)' was changed as a value: bind existing entities with bind(_:to:), or use addReference, setReference and "
                + "removeReference; create new ones by creating them in the relation."
        case .notAnEntity(let type):
            "\(type) isn't written as an object with properties."
        case .boundAndInline(let name):
            "The relation '\(name)' is bound to an existing entity, and has a new one in the entity that is written: leave one of them out."
        }
    }
}
