import WebServiceClient

// Relations between existing entities (Protocol, section 11.4.6).
extension ODataClient {
    /// Adds an entity to a to-many relation.
    ///
    /// - Parameter relation: The path of the relation, such as `ResourcePath(entitySet: "People").key("ada").property("Friends")`.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func addReference(to target: EntityReference, in relation: ResourcePath) async throws {
        try await addReference(to: target, in: ODataQuery(relation))
    }

    /// Adds an entity to a to-many relation, by a query with the path's parameter aliases and custom options.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func addReference(to target: EntityReference, in relation: ODataQuery) async throws {
        try await writeReference(.post, target, relation, .none)
    }

    /// Sets the entity of a to-one relation, replacing the current one.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setReference(_ relation: ResourcePath, to target: EntityReference, if condition: WriteCondition = .none) async throws {
        try await setReference(ODataQuery(relation), to: target, if: condition)
    }

    /// Sets the entity of a to-one relation, by a query with the path's parameter aliases and custom options.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setReference(_ relation: ODataQuery, to target: EntityReference, if condition: WriteCondition = .none) async throws {
        try await writeReference(.put, target, relation, condition)
    }

    /// Clears a to-one relation; the related entity isn't deleted.
    ///
    /// For services that don't support this, use an update: ``EntityDraft/unbind(_:)``, ``EntityBinding/init(clearing:)``.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(_ relation: ResourcePath, if condition: WriteCondition = .none) async throws {
        try await removeReference(ODataQuery(relation), if: condition)
    }

    /// Clears a to-one relation, by a query with the path's parameter aliases and custom options.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(_ relation: ODataQuery, if condition: WriteCondition = .none) async throws {
        var operation = try operation(.reference, .delete, relation.resource.ref(), for: relation.options)
        operation.condition = condition
        try await send(operation)
    }

    /// Removes an entity from a to-many relation; the entity isn't deleted.
    ///
    /// In version 4 the request names the entity by its absolute URL, in version 2 by its key, so there the reference must be a path with a
    /// key.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(to target: EntityReference, in relation: ResourcePath) async throws {
        try await removeReference(to: target, in: ODataQuery(relation))
    }

    /// Removes an entity from a to-many relation, by a query with the path's parameter aliases and custom options.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(to target: EntityReference, in relation: ODataQuery) async throws {
        var operation = try operation(.reference, .delete, relation.resource.ref(), for: relation.options)
        if printer.version == .v2 {
            guard case .resource(let query) = target.target, case .key(let parts)? = query.resource.segments.last else {
                throw error(
                    ODataOperation(relation.resource), .binding, .query,
                    "Version 2 removes a reference by the entity's key: pass a reference whose path ends with the key.")
            }
            operation.query.resource = relation.resource.appending(.key(parts)).ref()
        } else {
            operation.lastOption = "$id=" + URLEncoding.queryValue(try url(of: target))
        }
        try await send(operation)
    }

    private func writeReference(
        _ method: ServiceRequest.Method, _ target: EntityReference, _ relation: ODataQuery, _ condition: WriteCondition
    ) async throws {
        var operation = try operation(.reference, method, relation.resource.ref(), for: relation.options)
        let url = ODataValue.string(try url(of: target))
        operation.body = .object(printer.version == .v2 ? ["uri": url] : DynamicEntity([.init(payloadFormat.controlName("id"), url)]))
        operation.condition = condition
        try await send(operation)
    }
}
