public import Foundation
import WebServiceClient

// Entities are created, changed, replaced and deleted (Protocol, section 11.4).
extension ODataClient {
    /// Creates an entity in a collection, with what it holds of related entities (deep insert).
    ///
    /// - Parameters:
    ///   - entity: the entity; relations that aren't loaded aren't written. Where the client's ``types`` know that its type derives from another,
    ///     the name is written with it.
    ///   - collection: the request for the collection that it becomes a member of. What it selects and expands is asked of the answer, its
    ///     `index` says where in an ordered collection; options that say which entities are meant are an error.
    ///   - binding: existing entities that it is related to.
    ///   - preference: what the service is to answer with.
    /// - Returns: the entity as the service has it, or only where it is.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func create<Entity>(
        _ entity: some Encodable & Sendable, in collection: FetchRequest<Entity>, binding: [EntityBinding] = [],
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.post, collection.resource, for: collection.options, answers: true)
        operation.body = try body(of: entity, binding, collection.resource)
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Writes what a draft changed, by PATCH (MERGE in version 2), and nothing else. Where nothing changed nothing is sent.
    ///
    /// The entity must be there, in the draft's version if it has one: unless another condition is given, an update never creates (`If-Match`).
    /// What the request selects and expands is asked of the answer.
    ///
    /// - Throws: `ServiceError`, with status 412 where the entity has another version by now; its cause is ``ODataStatusError`` where the service
    ///   created an entity nevertheless (201) or hasn't made the change yet (202), and ``ODataWriteError`` where a relation was changed as a value. `CancellationError` when the task was cancelled.
    @discardableResult public func update<Entity>(
        _ request: EntityRequest<Entity>, with draft: EntityDraft<Entity>, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        let changes = try payload(request.resource) { try draft.changes(payloadFormat, types: types, userInfo: userInfo) }
        guard !changes.properties.isEmpty || !draft.bindings.isEmpty else { return WriteResult(unchanged: draft.etag) }
        var operation = try operation(updateMethod, request.resource, for: request.options, answers: true)
        let body = try payload(request.resource) { try bound(changes, draft.bindings, isUpdate: true) }
        operation.body = .object(draft.typed(body, payloadFormat, types))
        operation.isUpdate = true
        operation.condition = condition == .usual ? draft.etag.map { .version($0) } ?? .usual : condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Writes these properties of an entity, by their wire names, by PATCH (MERGE in version 2).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func update<Entity>(
        _ request: EntityRequest<Entity>, setting properties: DynamicEntity, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(updateMethod, request.resource, for: request.options, answers: true)
        operation.body = .object(properties)
        operation.isUpdate = true
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Replaces an entity as a whole, by PUT: properties that aren't written fall back to their defaults. An update is nearly always better.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    @discardableResult public func replace<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .usual,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(.put, request.resource, for: request.options, answers: true)
        operation.body = try body(of: entity, binding, request.resource)
        operation.isUpdate = true
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Updates an entity, or creates it where it isn't there (Protocol, section 11.4.4).
    ///
    /// - Parameter condition: ``WriteCondition/none`` for either, ``WriteCondition/absent`` to create only, ``WriteCondition/exists`` to update only.
    /// - Throws: `ServiceError`, with status 412 where the condition doesn't hold, or `CancellationError` when the task was cancelled.
    @discardableResult public func upsert<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .none,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        var operation = try operation(updateMethod, request.resource, for: request.options, answers: true)
        operation.body = try body(of: entity, binding, request.resource)
        operation.condition = condition
        operation.preference = preference
        return try await write(operation, Entity.self)
    }

    /// Deletes an entity.
    ///
    /// - Throws: `ServiceError`, with status 412 where the condition doesn't hold, or `CancellationError` when the task was cancelled.
    public func delete<Entity>(_ request: EntityRequest<Entity>, if condition: WriteCondition = .none) async throws {
        var operation = try operation(.delete, request.resource, for: request.options)
        operation.condition = condition
        try await send(operation)
    }

    /// Version 2 had its own method before PATCH was one.
    private var updateMethod: ServiceRequest.Method {
        printer.version == .v2 ? "MERGE" : .patch
    }
}

// Single properties and raw values (Protocol, section 11.4.9).
extension ODataClient {
    /// Writes one property of an entity; `nil` makes it null. A complex property is replaced as a whole (Protocol, section 11.4.9.3).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func set<Entity, Value: Encodable & Sendable>(
        _ property: KeyPath<Entity, Value>, of request: EntityRequest<Entity>, to value: Value, if condition: WriteCondition = .none
    ) async throws {
        let resource = request.resource.following(property, of: Entity.self)
        var operation = try operation(.put, resource, for: request.options)
        let payload = try payload(resource) { try encoder.payload(of: value) }
        if payload.isNull, printer.version != .v2 {
            operation.method = .delete
        } else if printer.version == .v2, case .name(let name)? = resource.segments.last {
            operation.body = .object(DynamicEntity([.init(name, payload)]))
        } else if case .object(let members) = payload, !members.isGeographic {
            // Only primitives, which GeoJSON is, and collections stand under a name (JSON Format, section 11).
            operation.body = payload
        } else {
            operation.body = .object(["value": payload])
        }
        operation.condition = condition
        try await send(operation)
    }

    /// Writes the bytes of a property, or of an entity's media, as they are: `/$value`, or a stream property.
    ///
    /// - Parameters:
    ///   - resource: the property, or the entity's `/$value`.
    ///   - contentType: the bytes' media type.
    ///
    /// Whatever the service answers with is accepted (`Accept: */*`).
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setRawValue(
        at resource: ResourcePath, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        try await setRawValue(at: ODataQuery(resource), to: data, contentType: contentType, if: condition)
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func setRawValue(
        at resource: ODataQuery, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        var operation = try operation(.put, resource.resource, for: resource.options)
        operation.bytes = (data, contentType)
        operation.condition = condition
        try await send(operation)
    }
}
