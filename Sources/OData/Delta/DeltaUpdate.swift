import Foundation
public import WebServiceClient

/// Changes of several entities of a collection that are sent in one request (Protocol 4.01, section 11.4.12).
///
///     var update = DeltaUpdate<Product>()
///     update.upsert(["ID": 1, "Price": 9.5])
///     update.remove(EntityReference(FetchRequest<Product>(from: "Products").key(2)))
///     let results = try await client.update(FetchRequest<Product>(from: "Products"), with: update, continuingOnError: true)
public struct DeltaUpdate<Entity: Decodable & Sendable>: Sendable {
    enum Item: Sendable {
        /// Properties, and the entity's id unless its key is among the properties.
        case changed(DynamicEntity, EntityReference?, [EntityBinding])
        case whole(any Encodable & Sendable, EntityReference?, [EntityBinding])
        case removed(EntityReference?, DynamicEntity, RemovalReason)
        case link(isAdded: Bool, source: EntityReference, relation: String, target: EntityReference)
    }

    private(set) var items: [Item] = []

    /// Creates an update without changes.
    public init() {}

    /// The number of changes.
    public var count: Int { items.count }

    /// Adds properties to set. The entity is created if it doesn't exist, unless the service refuses that.
    ///
    /// - Parameters:
    ///   - properties: The properties by their wire names, with the entity's key or control information such as `@id`.
    ///   - reference: The entity, unless its key is among the properties.
    ///   - bindings: Existing entities to relate to it.
    public mutating func upsert(_ properties: DynamicEntity, at reference: EntityReference? = nil, binding: [EntityBinding] = []) {
        items.append(.changed(properties, reference, binding))
    }

    /// Adds an entity to create or update with all properties of its type.
    public mutating func upsert(
        _ entity: some Encodable & Sendable, at reference: EntityReference? = nil, binding: [EntityBinding] = []
    ) {
        items.append(.whole(entity, reference, binding))
    }

    /// Adds an entity to delete or, with the reason ``RemovalReason/changed``, to remove from the collection only.
    public mutating func remove(_ reference: EntityReference, reason: RemovalReason = .deleted) {
        items.append(.removed(reference, DynamicEntity(), reason))
    }

    /// Adds an entity to remove, by its key properties.
    public mutating func remove(key: DynamicEntity, reason: RemovalReason = .deleted) {
        items.append(.removed(nil, key, reason))
    }

    /// Adds a relation between two entities to add.
    public mutating func link(_ source: EntityReference, _ relation: String, to target: EntityReference) {
        items.append(.link(isAdded: true, source: source, relation: relation, target: target))
    }

    /// Adds a relation between two entities to remove.
    public mutating func unlink(_ source: EntityReference, _ relation: String, from target: EntityReference) {
        items.append(.link(isAdded: false, source: source, relation: relation, target: target))
    }
}

/// The result of one change of a ``DeltaUpdate``.
public enum DeltaUpdateResult<Entity: Decodable & Sendable>: Sendable {
    /// The change was made; the value is the entity, if the service sent it.
    case changed(ChangedEntity<Entity>?)
    /// The change, or a change of a related entity inside of it, was not made.
    case failed(DataModificationFailure)
    /// The result is unknown, because the service reports failures of changes that it doesn't identify.
    case unknown
}

/// The reason why a service didn't make a change (the term `DataModificationException` of the vocabulary Core).
public struct DataModificationFailure: DescribedError, Sendable, Hashable {
    /// The kind of the failed operation, such as `update`; empty if the service doesn't send it.
    public let operation: String
    /// The status that a separate request with the change would have had, if the service sends it.
    public let status: Int?
    /// The service's explanation.
    public let message: String
    /// All members of the annotation.
    public let others: DynamicEntity

    init(_ annotation: ODataValue) {
        let object = annotation.object ?? DynamicEntity()
        operation = object["failedOperation"]?.string ?? ""
        status = object["responseCode"]?.integer.flatMap { Int(exactly: $0) }
        message = object["messageText"]?.string ?? object["message"]?.string ?? object["info"]?["messageText"]?.string ?? ""
        others = object
    }

    /// A sentence for people.
    public var description: String {
        let kind = operation.isEmpty ? "change" : VisibleText.of(SecretMask.text(operation))
        let code = status.map { " (status \($0))" } ?? ""
        return
            "The service didn't make the \(kind)\(code): \(message.isEmpty ? "no reason given" : VisibleText.of(SecretMask.text(message)))."
    }
}

extension ODataClient {
    /// Sends changes of several entities of a collection in one request, by PATCH. Requires version 4.01.
    ///
    /// Services make either all changes or, with `continuingOnError`, every change that they can. The changes have content ids, which match
    /// the results to them. If a service doesn't return the content ids, the ids and keys of the entities do.
    ///
    /// - Returns: One result for each change, in its order. Without `continuingOnError`, each is ``DeltaUpdateResult/changed(_:)``.
    /// - Throws: `ServiceError` if no change was made, or if it isn't known which were; in earlier versions its cause is ``DeltaError``.
    ///   `CancellationError` when the task was cancelled.
    public func update<Entity>(
        _ collection: FetchRequest<Entity>, with update: DeltaUpdate<Entity>, continuingOnError: Bool = false,
        preferring preference: ReturnPreference? = nil
    ) async throws -> [DeltaUpdateResult<Entity>] {
        let name = ODataOperation(collection.query)
        guard printer.version >= .v401 else {
            let cause = DeltaError.noCollectionUpdates(printer.version)
            throw error(name, .binding, .delta, cause.description, cause: cause)
        }
        guard update.count > 0 else { return [] }
        var operation = try operation(.delta, .patch, collection.resource, for: collection.options, answers: true)
        let entries = try payload(collection.resource) {
            try update.items.enumerated().map { try entry($1, number: $0, of: collection.resource) }
        }
        operation.body = .object(["@context": .string("#$delta"), "value": .array(entries.map { .object($0) })])
        operation.preference = preference
        if continuingOnError { operation.query.options.headers.append("Prefer", "continue-on-error") }
        let sent: ServiceCall = try call(operation)
        let response: ServiceResponse<ODataPage<DynamicEntity>?> = try await self.response(
            sent, ODataOperation(operation.query.resource), for: .changing(mustExist: false))
        guard let page = response.value else { return entries.map { _ in .changed(nil) } }
        // The results of further pages would be missing.
        if page.nextLink != nil {
            throw error(
                name, .decoding, .delta,
                "The service made changes, but the results continue at a next link, which isn't followed: read the "
                    + "collection to see what changed.", response: ResponseSummary(of: response))
        }
        do {
            return try DeltaUpdateMatch(entries).results(of: page, at: deltaPlace(of: page, at: response.url))
        } catch {
            throw self.error(
                name, .decoding, .decoding, "The results of the changes can't be read: \(ServiceError.text(of: error))", cause: error,
                response: ResponseSummary(of: response))
        }
    }

    /// Returns the entry of a change in the request.
    private func entry<Entity>(_ item: DeltaUpdate<Entity>.Item, number: Int, of resource: ResourcePath) throws -> DynamicEntity {
        var entry = DynamicEntity()
        func add(_ reference: EntityReference?) throws {
            if let reference { entry["@id"] = .string(try url(of: reference)) }
        }
        switch item {
        case .changed(let properties, let reference, let bindings):
            try add(reference)
            for property in try bound(properties, bindings, isUpdate: true).properties { entry[property.name] = property.value }
        case .whole(let entity, let reference, let bindings):
            try add(reference)
            guard case .object(let properties) = try encoder.payload(of: entity) else {
                throw ODataWriteError.notAnEntity("\(type(of: entity))")
            }
            for property in try bound(properties, bindings, isUpdate: true).properties { entry[property.name] = property.value }
        case .removed(let reference, let key, let reason):
            entry["@removed"] = .object(["reason": .string(reason.rawValue)])
            try add(reference)
            for property in key.properties { entry[property.name] = property.value }
        case .link(let isAdded, let source, let relation, let target):
            let kind = isAdded ? "$link" : "$deletedLink"
            entry["@context"] = .string("#\(DeltaContext("#" + resource.route).entitySet ?? resource.route)/\(kind)")
            entry["source"] = .string(try url(of: source))
            entry["relationship"] = .string(relation)
            entry["target"] = .string(try url(of: target))
        }
        entry[DeltaUpdateMatch.contentID] = .string(String(number + 1))
        return entry
    }
}

/// Finds the changes that the entries of a response belong to.
private struct DeltaUpdateMatch {
    static let contentID = "@Org.OData.Core.V1.ContentID"
    private let sent: [DynamicEntity]

    init(_ sent: [DynamicEntity]) { self.sent = sent }

    func results<Entity>(of page: ODataPage<DynamicEntity>, at place: DeltaPlace) throws -> [DeltaUpdateResult<Entity>] {
        var results: [DeltaUpdateResult<Entity>?] = sent.map { _ in nil }
        // A failure of the collection as a whole.
        var hasUnmatchedFailure = Self.failure(in: page.annotations) != nil || Self.failure(in: page.others) != nil
        for payload in page.entities {
            let entry = try DeltaEntry(.object(payload), at: place)
            let failure = Self.failure(in: payload)
            guard let number = number(of: payload, entry) else {
                hasUnmatchedFailure = hasUnmatchedFailure || failure != nil
                continue
            }
            if let failure {
                results[number] = .failed(failure)
            } else if case .changed(let entity) = entry.change(isWhole: false) as ODataChange<Entity>, results[number] == nil {
                results[number] = .changed(entity)
            }
        }
        // A response contains at least the failed changes.
        return results.map { $0 ?? (hasUnmatchedFailure ? .unknown : .changed(nil)) }
    }

    /// Returns the failure that a payload reports: its own failure first, then failures of nested payloads, such as the changes of a
    /// relation.
    private static func failure(in payload: DynamicEntity) -> DataModificationFailure? {
        // Level by level, without recursion, since payloads may nest deeply.
        var level = [payload]
        while !level.isEmpty {
            var inner: [DynamicEntity] = []
            for object in level {
                for property in object.properties {
                    if isTerm("DataModificationException", property.name) { return DataModificationFailure(property.value) }
                    var values = [property.value]
                    while let value = values.popLast() {
                        switch value {
                        case .object(let object): inner.append(object)
                        case .array(let elements): values += elements.list.reversed()
                        default: break
                        }
                    }
                }
            }
            level = inner
        }
        return nil
    }

    /// Returns whether a member is an annotation with a term of the vocabulary Core, whose alias the service chooses (CSDL 4.01, section
    /// 4.2): by the term's own name, with or without a qualifier.
    private static func isTerm(_ term: String, _ name: String) -> Bool {
        // The annotations of a page are named without `@`.
        let annotation = name.lastIndex(of: "@").map { name[name.index(after: $0)...] } ?? name[...]
        return annotation.prefix { $0 != "#" }.hasSuffix("." + term)
    }

    /// Returns the number of the change that an entry of the response belongs to: by its content id, by its id, or by the key that was
    /// sent.
    private func number(of payload: DynamicEntity, _ entry: DeltaEntry) -> Int? {
        if let value = payload.properties.first(where: { $0.name.hasPrefix("@") && Self.isTerm("ContentID", $0.name) })?.value {
            let text = value.string ?? value.integer.map { String($0) } ?? ""
            return sent.firstIndex { $0[Self.contentID]?.string == text }
        }
        let ids = EntityKeys(names: [])
        if let id = EntityMetadata(payload).id ?? removedID(entry), let key = ids.text(ofID: id) {
            let matches = sent.indices.filter { sent[$0]["@id"]?.string.flatMap { ids.text(ofID: $0) } == key }
            if matches.count == 1 { return matches[0] }
        }
        guard case .removed(let removed) = entry.kind, !removed.key.properties.isEmpty else { return nil }
        let matches = sent.indices.filter { number in removed.key.properties.allSatisfy { sent[number][$0.name] == $0.value } }
        return matches.count == 1 ? matches[0] : nil
    }

    private func removedID(_ entry: DeltaEntry) -> String? {
        if case .removed(let removed) = entry.kind { removed.id } else { nil }
    }
}
