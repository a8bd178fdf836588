public import Foundation
import WebServiceClient

// Creating, changing, replacing and deleting entities (Protocol, section 11.4).
extension ODataClient {
    /// Creates an entity in a collection, with the related entities that it contains (deep insert).
    ///
    /// - Parameters:
    ///   - entity: The entity. Relations that aren't loaded aren't written. If the client's ``types`` list its type as a derived one, the
    ///     type name is included.
    ///   - collection: The request for the collection. Its selection and expansions apply to the response, and its `index` is the position
    ///     in an ordered collection. Options that filter, order or page entities are an error.
    ///   - binding: Existing entities to relate to the new one.
    ///   - preference: The preferred content of the response.
    /// - Returns: The entity as stored by the service, or only its location.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func create<Entity>(
        _ entity: some Encodable & Sendable, in collection: FetchRequest<Entity>, binding: [EntityBinding] = [],
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.creation, .post, collection.resource, for: collection.options, answers: true)
        operation.body = try body(of: entity, binding, collection.resource, writing: .creation, declared: Entity.self)
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Sends the changes of a draft, by PATCH (MERGE in version 2). If nothing changed, no request is sent.
    ///
    /// The entity must exist, in the draft's version if it has one: unless another condition is passed, an update never creates an entity
    /// (`If-Match`). The request's selection and expansions apply to the response.
    ///
    /// - Throws: `ServiceError`, with status 412 if the entity has another version; its cause is ``ODataStatusError`` if the service
    ///   created an entity nevertheless (201) or hasn't completed the change yet (202), and ``ODataWriteError`` if a relation was changed
    ///   as a value. `CancellationError` when the task was cancelled.
    @discardableResult public func update<Entity>(
        _ request: EntityRequest<Entity>, with draft: EntityDraft<Entity>, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        guard let operation = try operation(updating: request, with: draft, if: condition, preferring: preference) else {
            return WriteResult(unchanged: draft.etag)
        }
        return try await write(operation, Entity.self)
    }

    /// Returns the update by a draft; `nil` if nothing changed.
    func operation<Entity>(
        updating request: EntityRequest<Entity>, with draft: EntityDraft<Entity>, if condition: WriteCondition,
        preferring preference: ReturnPreference?
    ) throws -> WriteOperation? {
        let changes = try payload(request.resource) { try draft.changes(payloadFormat, types: types, userInfo: userInfo) }
        guard changes.count > 0 || !draft.bindings.isEmpty else { return nil }
        var operation = try operation(.update, updateMethod, request.resource, for: request.options, answers: true)
        let body = try payload(request.resource) { try bound(changes, draft.bindings, isUpdate: true) }
        operation.body = .object(draft.typed(body, payloadFormat, types))
        operation.condition = condition == .usual ? draft.etag.map { .version($0) } ?? .usual : condition
        operation.preference = preference
        return operation
    }

    /// Sets properties of an entity, by their wire names, by PATCH (MERGE in version 2).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func update<Entity>(
        _ request: EntityRequest<Entity>, setting properties: DynamicEntity, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.update, updateMethod, request.resource, for: request.options, answers: true)
        operation.body = .object(properties)
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Replaces a whole entity by PUT: properties that aren't written return to their defaults. Prefer an update.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func replace<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .usual,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.replacement, .put, request.resource, for: request.options, answers: true)
        operation.body = try body(of: entity, binding, request.resource, declared: Entity.self)
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Updates an entity, or creates it if it doesn't exist (Protocol, section 11.4.4).
    ///
    /// - Parameter condition: ``WriteCondition/none`` to do either, ``WriteCondition/absent`` only to create, ``WriteCondition/exists``
    ///   only to update.
    /// - Throws: `ServiceError`, with status 412 if the condition doesn't hold, or `CancellationError` when the task was cancelled.
    @discardableResult public func upsert<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .none,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.upsert, updateMethod, request.resource, for: request.options, answers: true)
        operation.body = try body(of: entity, binding, request.resource, declared: Entity.self)
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Deletes an entity.
    ///
    /// - Throws: `ServiceError`, with status 412 if the condition doesn't hold, or `CancellationError` when the task was cancelled.
    public func delete<Entity>(_ request: EntityRequest<Entity>, if condition: WriteCondition = .none) async throws {
        var operation = try operation(.deletion, .delete, request.resource, for: request.options)
        operation.condition = condition
        try await send(operation)
    }

    /// Version 2 predates PATCH and uses MERGE.
    var updateMethod: ServiceRequest.Method {
        printer.version == .v2 ? "MERGE" : .patch
    }
}

// Single properties and raw values (Protocol, section 11.4.9).
extension ODataClient {
    /// Sets one property of an entity; `nil` makes it null. A complex property is replaced as a whole (Protocol, section 11.4.9.3).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func set<Entity, Value: Encodable & Sendable>(
        _ property: KeyPath<Entity, Value>, of request: EntityRequest<Entity>, to value: Value, if condition: WriteCondition = .none
    ) async throws {
        let resource = request.resource.following(property, of: Entity.self)
        var operation = try operation(.value, .put, resource, for: request.options)
        let payload = try payload(resource) { try encoder.payload(of: value) }
        if payload.isNull, printer.version != .v2 {
            operation.method = .delete
        } else if printer.version == .v2, case .name(let name)? = resource.segments.last {
            operation.body = .object(DynamicEntity([.init(name, payload)]))
        } else if case .object(let members) = payload, !members.isGeographic {
            // Only primitive values, GeoJSON included, and collections are wrapped in `value` (JSON Format, section 11).
            operation.body = payload
        } else {
            operation.body = .object(["value": payload])
        }
        operation.condition = condition
        try await send(operation)
    }

    /// Writes the raw bytes of a property, of an entity's media (`/$value`) or of a stream property. Accepts a response of any type
    /// (`Accept: */*`).
    ///
    /// - Parameters:
    ///   - resource: The property, or the entity's `/$value`.
    ///   - contentType: The bytes' media type.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setRawValue(
        at resource: ResourcePath, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        try await setRawValue(at: ODataQuery(resource), to: data, contentType: contentType, if: condition)
    }

    /// Writes the raw bytes at a query's path, with the query's parameter aliases and custom options.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setRawValue(
        at resource: ODataQuery, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        var operation = try operation(.value, .put, resource.resource, for: resource.options)
        operation.bytes = (RequestBody(data), contentType)
        operation.condition = condition
        try await send(operation)
    }
}

/// The preferred content of the response to a change (Protocol, section 8.2.8.7). The service may ignore it.
public enum ReturnPreference: String, Sendable, Hashable, CaseIterable {
    /// Only status and headers, without a body.
    case minimal = "return=minimal"
    /// The current entity.
    case representation = "return=representation"
}

/// The condition under which a change is made (RFC 9110, section 13.1).
public enum WriteCondition: Sendable, Hashable {
    /// The condition that prevents an operation from creating an entity: the draft's version if known, otherwise that the entity exists.
    /// Version 2 has only the former, since services answer 400 to a condition on entities without versions.
    case usual
    /// No condition.
    case none
    /// The entity exists, in any version: `If-Match: *`.
    case exists
    /// The entity exists in this version: `If-Match`.
    case version(String)
    /// The entity doesn't exist: `If-None-Match: *`.
    case absent

    /// Returns the header of the condition.
    func header(_ version: ODataVersion) -> (name: HTTPFields.Name, value: String)? {
        switch self {
        case .usual: version == .v2 ? nil : ("If-Match", "*")
        case .none: nil
        case .exists: ("If-Match", "*")
        case .version(let etag): ("If-Match", etag)
        case .absent: ("If-None-Match", "*")
        }
    }
}
