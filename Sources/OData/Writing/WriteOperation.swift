import Foundation
import WebServiceClient

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
    /// What stands behind the printed path, percent-encoded.
    var suffix = ""

    init(_ method: ServiceRequest.Method, _ resource: ResourcePath, aliasesOf options: QueryOptions? = nil) {
        self.method = method
        // What is selected or expanded says nothing about what is written.
        var kept = QueryOptions()
        kept.aliases = options?.aliases ?? []
        kept.custom = options?.custom ?? []
        query = ODataQuery(resource, options: kept)
    }
}

extension ODataClient {
    /// How bodies are spelled.
    var payloadFormat: PayloadFormat {
        PayloadFormat(version: printer.version, isIEEE754Compatible: asksForIEEE754Compatible)
    }

    /// The call of a change.
    func call(_ operation: WriteOperation) throws -> ServiceCall {
        let name = ODataOperation(operation.query.resource)
        let query = operation.query
        let target = try printed(name) { printer throws(ODataQueryError) in try printer.text(of: query) } + operation.suffix
        var call = call(name, to: target, method: operation.method)
        if let (data, type) = operation.bytes {
            call = call.body(data).header(.contentType, type)
        } else if let body = operation.body {
            call = call.body(body)
            if payloadFormat.version != .v2 { call = call.header("OData-Version", payloadFormat.version.rawValue) }
        } else {
            call = call.describing { $0.withoutBody() }
        }
        if let header = operation.condition.header { call = call.header(header.name, header.value) }
        if let preference = operation.preference { call = call.header("Prefer", preference.rawValue) }
        return call
    }

    /// Sends a change of an entity.
    func write<Entity>(_ operation: WriteOperation, _ type: Entity.Type) async throws -> WriteResult<Entity> {
        WriteResult(
            try await response(try call(operation), ODataOperation(operation.query.resource)) as ServiceResponse<ODataEntity<Entity>?>)
    }

    /// Sends a change whose answer has nothing in it.
    func send(_ operation: WriteOperation) async throws {
        _ = try await call(operation).send()
    }

    /// The payload of an entity that is written as a whole.
    func body(of entity: any Encodable & Sendable, _ bindings: [EntityBinding], _ resource: ResourcePath) throws -> ODataValue {
        try payload(resource) {
            let value = try ODataEncoder(payloadFormat, types: types).payload(of: entity)
            guard case .object(let object) = value else { throw ODataWriteError.notAnEntity("\(Swift.type(of: entity))") }
            return try bound(object, bindings)
        }
    }

    /// An entity's payload with its bindings.
    func bound(_ entity: DynamicEntity, _ bindings: [EntityBinding]) throws -> ODataValue {
        var entity = entity
        for binding in bindings { try binding.write(to: &entity, payloadFormat) { try self.url(of: $0) } }
        return .object(entity)
    }

    /// The URL that a reference is written as.
    func url(of reference: EntityReference) throws -> String {
        switch reference.target {
        case .id(let id): return id
        case .resource(let query):
            let operation = ODataOperation(query.resource)
            let target = try printed(operation) { printer throws(ODataQueryError) in try printer.text(of: query) }
            return try call(operation, to: target).url().absoluteString
        }
    }

    /// What a closure makes of a body; its errors tell the operation.
    func payload<Value>(_ resource: ResourcePath, _ make: () throws -> Value) throws -> Value {
        do {
            return try make()
        } catch let error as ServiceError {
            throw error
        } catch {
            throw self.error(ODataOperation(resource), .binding, .encoding, "The body can't be made: \(error)", cause: error)
        }
    }
}
