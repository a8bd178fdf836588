public import WebServiceClient

/// Requests that are sent to a service as one (Protocol 4.01, section 11.7).
///
///     var batch = ODataBatch()
///     let user = batch.fetch(FetchRequest<User>().key("ada"))
///     let page = batch.page(FetchRequest<Order>().top(5))
///     let order = batch.atomically { group in
///         let order = group.create(draft, in: FetchRequest<Order>())
///         group.create(line, in: order.reference.navigate(\.items))
///         return order
///     }
///     let answer = try await client.send(batch)
///     let ada = try answer[user]
///
/// A batch is a value: you add requests to it, and only ``ODataClient/send(_:afterError:)`` sends them. Each method that adds a request has
/// the parameters of the client's method of the same name. Entities and changes are encoded when the batch is sent.
public struct ODataBatch: Sendable {
    /// A call of the client that writes a part and reads its response.
    typealias Call = @Sendable (ODataClient) async throws -> any Sendable

    /// A request with its group and its dependencies.
    struct Part: Sendable {
        let token: UInt64
        let call: Call
        /// The number of the part's group; `nil` for a single request.
        let group: Int?
        /// The parts that must be processed first, in addition to those that its URLs refer to.
        var dependencies: [UInt64] = []
    }

    /// The parts in their order. The parts of a group are neighbors.
    private(set) var parts: [Part] = []
    private var groups = 0
    /// Whether ``run(_:after:)`` was called for a part of another batch.
    private(set) var hasForeignOrder = false

    /// The fields of the batch request itself, such as `Isolation: snapshot`. Fields of a part are set on its request.
    public var headers = HTTPFields()

    /// Creates a batch without requests.
    public init() {}

    /// The number of requests.
    public var count: Int { parts.count }

    /// Whether the batch has no requests.
    public var isEmpty: Bool { parts.isEmpty }

    /// Adds requests that the service performs atomically: a change set in multipart, an atomicity group in JSON.
    ///
    /// If one fails, all others throw an error whose cause is ``ODataBatchError/groupFailed(_:)``. In multipart a group can't contain
    /// reads; a batch with such a group is refused when it is sent, and so is a group of several requests if
    /// ``BatchSettings/groupsAreAtomic`` is `false`.
    public mutating func atomically<Result>(_ add: (inout ODataBatchGroup) throws -> Result) rethrows -> Result {
        groups += 1
        var group = ODataBatchGroup(number: groups)
        let result = try add(&group)
        parts += group.parts
        return result
    }

    /// States that a part is processed only after an earlier one has succeeded: `dependsOn` in JSON. References to a part imply it.
    ///
    /// In multipart, requests are processed in their order, and there is no place for the condition: the later request is sent regardless.
    /// An earlier part that sends nothing, because nothing changed, counts as successful. A part of another batch, or one that isn't
    /// earlier, is refused when the batch is sent.
    public mutating func run<Later, Earlier>(_ later: BatchPart<Later>, after earlier: BatchPart<Earlier>) {
        guard let index = parts.firstIndex(where: { $0.token == later.token }) else {
            hasForeignOrder = true
            return
        }
        parts[index].dependencies.append(earlier.token)
    }
}

/// The requests of a group of a batch: ``ODataBatch/atomically(_:)``.
public struct ODataBatchGroup: Sendable {
    private let number: Int
    private(set) var parts: [ODataBatch.Part] = []

    init(number: Int) { self.number = number }
}

extension ODataBatch: BatchBuilding {
    /// Adds any call of the client.
    public mutating func add<Value: Sendable>(_ call: @escaping @Sendable (ODataClient) async throws -> Value) -> BatchPart<Value> {
        let token = BatchScope.newToken()
        parts.append(Part(token: token, call: { BatchValue(value: try await call($0)) }, group: nil))
        return BatchPart(token: token)
    }
}

extension ODataBatchGroup: BatchBuilding {
    /// Adds any call of the client.
    public mutating func add<Value: Sendable>(_ call: @escaping @Sendable (ODataClient) async throws -> Value) -> BatchPart<Value> {
        let token = BatchScope.newToken()
        parts.append(ODataBatch.Part(token: token, call: { BatchValue(value: try await call($0)) }, group: number))
        return BatchPart(token: token)
    }
}

/// A value that requests are added to: a batch, or a group of one.
public protocol BatchBuilding {
    /// Adds any call of the client, such as one that a subclass declares:
    ///
    ///     let total = batch.add { _ in try await shop.total(of: cart) }
    ///
    /// The closure runs twice: first to write its request, then to read its response. Its first call becomes the part; later calls are
    /// sent separately when the response is read. It must have no other effects. The first call must be a call of the client that sends
    /// the batch. Calls of other clients before it throw an error and aren't sent.
    mutating func add<Value: Sendable>(_ call: @escaping @Sendable (ODataClient) async throws -> Value) -> BatchPart<Value>
}

// Reads.
extension BatchBuilding {
    /// Adds the read of an entity or another resource with one value: ``ODataClient/fetch(_:)-(EntityRequest<Entity>)``.
    public mutating func fetch<Entity>(_ request: EntityRequest<Entity>) -> BatchPart<Entity> {
        add { try await $0.fetch(request) }
    }

    /// Adds the read of an entity that may be missing: ``ODataClient/fetchIfPresent(_:)``.
    public mutating func fetchIfPresent<Entity>(_ request: EntityRequest<Entity>) -> BatchPart<Entity?> {
        add { try await $0.fetchIfPresent(request) }
    }

    /// Adds the read of an entity with its metadata: ``ODataClient/entity(_:)``.
    public mutating func entity<Entity>(_ request: EntityRequest<Entity>) -> BatchPart<ODataEntity<Entity>> {
        add { try await $0.entity(request) }
    }

    /// Adds the read of a query's first page: ``ODataClient/page(_:)``.
    public mutating func page<Entity>(_ request: FetchRequest<Entity>) -> BatchPart<ODataPage<Entity>> {
        add { try await $0.page(request) }
    }

    /// Adds the read of all entities of a query. Only the first page is part of the batch; the others are read one by one afterwards.
    public mutating func fetch<Entity>(_ request: FetchRequest<Entity>) -> BatchPart<[Entity]> {
        add { try await $0.fetch(request) }
    }

    /// Adds the count of the entities that match a query: ``ODataClient/count(of:)``.
    public mutating func count<Entity>(of request: FetchRequest<Entity>) -> BatchPart<Int64> {
        add { try await $0.count(of: request) }
    }
}

// Changes.
extension BatchBuilding {
    /// Adds the creation of an entity: ``ODataClient/create(_:in:binding:preferring:)``.
    @discardableResult public mutating func create<Entity>(
        _ entity: some Encodable & Sendable, in collection: FetchRequest<Entity>, binding: [EntityBinding] = [],
        preferring preference: ReturnPreference? = nil
    ) -> BatchPart<WriteResult<Entity>> {
        add { try await $0.create(entity, in: collection, binding: binding, preferring: preference) }
    }

    /// Adds the changes of a draft: ``ODataClient/update(_:with:if:preferring:)``. If nothing changed, it isn't part of the batch.
    @discardableResult public mutating func update<Entity>(
        _ request: EntityRequest<Entity>, with draft: EntityDraft<Entity>, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) -> BatchPart<WriteResult<Entity>> {
        add { try await $0.update(request, with: draft, if: condition, preferring: preference) }
    }

    /// Adds the change of properties by their wire names: ``ODataClient/update(_:setting:if:preferring:)``.
    @discardableResult public mutating func update<Entity>(
        _ request: EntityRequest<Entity>, setting properties: DynamicEntity, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) -> BatchPart<WriteResult<Entity>> {
        add { try await $0.update(request, setting: properties, if: condition, preferring: preference) }
    }

    /// Adds the replacement of an entity: ``ODataClient/replace(_:with:if:binding:preferring:)``.
    @discardableResult public mutating func replace<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .usual,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) -> BatchPart<WriteResult<Entity>> {
        add { try await $0.replace(request, with: entity, if: condition, binding: binding, preferring: preference) }
    }

    /// Adds the update or creation of an entity: ``ODataClient/upsert(_:with:if:binding:preferring:)``.
    @discardableResult public mutating func upsert<Entity>(
        _ request: EntityRequest<Entity>, with entity: some Encodable & Sendable, if condition: WriteCondition = .none,
        binding: [EntityBinding] = [], preferring preference: ReturnPreference? = nil
    ) -> BatchPart<WriteResult<Entity>> {
        add { try await $0.upsert(request, with: entity, if: condition, binding: binding, preferring: preference) }
    }

    /// Adds the deletion of an entity: ``ODataClient/delete(_:if:)``.
    @discardableResult public mutating func delete<Entity>(
        _ request: EntityRequest<Entity>, if condition: WriteCondition = .none
    ) -> BatchPart<Void> {
        add { try await $0.delete(request, if: condition) }
    }

    /// Adds the addition of an entity to a to-many relation: ``ODataClient/addReference(to:in:)-(_,ResourcePath)``.
    @discardableResult public mutating func addReference(to target: EntityReference, in relation: ResourcePath) -> BatchPart<Void> {
        add { try await $0.addReference(to: target, in: relation) }
    }

    /// Adds a change of a to-one relation: ``ODataClient/setReference(_:to:if:)-(ResourcePath,_,_)``.
    @discardableResult public mutating func setReference(
        _ relation: ResourcePath, to target: EntityReference, if condition: WriteCondition = .none
    ) -> BatchPart<Void> {
        add { try await $0.setReference(relation, to: target, if: condition) }
    }

    /// Adds the removal of an entity from a to-many relation: ``ODataClient/removeReference(to:in:)-(_,ResourcePath)``.
    @discardableResult public mutating func removeReference(to target: EntityReference, in relation: ResourcePath) -> BatchPart<Void> {
        add { try await $0.removeReference(to: target, in: relation) }
    }
}

// Operations.
extension BatchBuilding {
    /// Adds the call of an action with a result: ``ODataClient/invoke(_:_:returning:if:)-(ResourcePath,_,_,_)``.
    public mutating func invoke<Result: Decodable & Sendable>(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], returning type: Result.Type,
        if condition: WriteCondition = .none
    ) -> BatchPart<Result> {
        add { try await $0.invoke(action, parameters, returning: type, if: condition) }
    }

    /// Adds the call of an action without a result: ``ODataClient/invoke(_:_:if:)-(ResourcePath,_,_)``.
    @discardableResult public mutating func invoke(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], if condition: WriteCondition = .none
    ) -> BatchPart<Void> {
        add { try await $0.invoke(action, parameters, if: condition) }
    }

    /// Adds the call of a function: ``ODataClient/evaluate(_:as:)-(ResourcePath,_)``.
    public mutating func evaluate<Result: Decodable & Sendable>(_ function: ResourcePath, as type: Result.Type) -> BatchPart<Result> {
        add { try await $0.evaluate(function, as: type) }
    }
}
