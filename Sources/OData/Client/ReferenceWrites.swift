import WebServiceClient

// Relations between entities that exist (Protocol, section 11.4.6).
extension ODataClient {
    /// Adds an entity to a relation to many.
    ///
    /// - Parameter relation: the path of the relation, such as `ResourcePath(entitySet: "People").key("ada").property("Friends")`.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func addReference(to target: EntityReference, in relation: ResourcePath) async throws {
        try await addReference(to: target, in: ODataQuery(relation))
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func addReference(to target: EntityReference, in relation: ODataQuery) async throws {
        try await writeReference(.post, target, relation, .none)
    }

    /// Lets a relation to one lead to an entity, in place of the one it led to.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setReference(_ relation: ResourcePath, to target: EntityReference, if condition: WriteCondition = .none) async throws {
        try await setReference(ODataQuery(relation), to: target, if: condition)
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func setReference(_ relation: ODataQuery, to target: EntityReference, if condition: WriteCondition = .none) async throws {
        try await writeReference(.put, target, relation, condition)
    }

    /// Cuts a relation to one; the entity it led to stays.
    ///
    /// Where a service doesn't know that, let an update do it: ``EntityDraft/unbind(_:)``, ``EntityBinding/init(clearing:)``.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(_ relation: ResourcePath, if condition: WriteCondition = .none) async throws {
        try await removeReference(ODataQuery(relation), if: condition)
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func removeReference(_ relation: ODataQuery, if condition: WriteCondition = .none) async throws {
        var operation = try operation(.delete, relation.resource.ref(), for: relation.options)
        operation.condition = condition
        try await send(operation)
    }

    /// Takes an entity out of a relation to many; the entity stays.
    ///
    /// In version 4 the entity is named by its absolute URL, in version 2 by its key, so the reference has to be a path with one there.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func removeReference(to target: EntityReference, in relation: ResourcePath) async throws {
        try await removeReference(to: target, in: ODataQuery(relation))
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func removeReference(to target: EntityReference, in relation: ODataQuery) async throws {
        var operation = try operation(.delete, relation.resource.ref(), for: relation.options)
        if printer.version == .v2 {
            guard case .resource(let query) = target.target, case .key(let parts)? = query.resource.segments.last else {
                throw error(
                    ODataOperation(relation.resource), .binding, .query,
                    "Version 2 takes a reference away by the entity's key: give the reference as a path that ends with the key.")
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
        var operation = try operation(method, relation.resource.ref(), for: relation.options)
        let url = ODataValue.string(try url(of: target))
        operation.body = .object(printer.version == .v2 ? ["uri": url] : DynamicEntity([.init(payloadFormat.controlName("id"), url)]))
        operation.condition = condition
        try await send(operation)
    }
}
