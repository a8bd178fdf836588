/// A reference to an existing entity, for relating another entity to it.
public struct EntityReference: Sendable, Hashable {
    enum Target: Sendable, Hashable {
        case resource(ODataQuery)
        case id(String)
    }

    let target: Target

    /// Creates a reference to the entity at a path, such as `ResourcePath(entitySet: "People").key("ada")`. It is written as an absolute
    /// URL.
    public init(_ resource: ResourcePath) {
        target = .resource(ODataQuery(resource))
    }

    /// Creates a reference to the entity of a request. It is written as an absolute URL.
    public init<Entity>(_ request: EntityRequest<Entity>) {
        var options = QueryOptions()
        options.aliases = request.options.aliases
        target = .resource(ODataQuery(request.resource, options: options))
    }

    /// Creates a reference by an id from the service, ``EntityMetadata/id``, which is written unchanged.
    public init(id: String) {
        target = .id(id)
    }
}

/// Existing entities to which a written entity is related.
public struct EntityBinding: Sendable, Hashable {
    /// The relation's wire name.
    public var relation: String
    /// The entities. A to-one relation has one, or none to clear it.
    public var targets: [EntityReference]
    /// A Boolean value that indicates whether the relation leads to many entities.
    public var isCollection: Bool

    /// Creates a binding of a to-one relation.
    public init(_ relation: String, to target: EntityReference) {
        self.relation = relation
        targets = [target]
        isCollection = false
    }

    /// Creates a binding that clears a to-one relation.
    public init(clearing relation: String) {
        self.relation = relation
        targets = []
        isCollection = false
    }

    /// Creates a binding of a to-many relation.
    public init(_ relation: String, toAll targets: [EntityReference]) {
        self.relation = relation
        self.targets = targets
        isCollection = true
    }

    /// Returns whether the binding is compatible with the entity's inline value of the relation: none, null, or other entities of a
    /// collection.
    ///
    /// - Parameter isDelta: Whether the binding is written as a delta of the relation, which excludes an inline value.
    func fits(_ inline: ODataValue?, isDelta: Bool) -> Bool {
        guard let inline, !inline.isNull else { return true }
        return isCollection && !isDelta && inline.array != nil
    }

    /// Returns whether the version writes the binding as a delta of the relation.
    func isDelta(in version: ODataVersion, isUpdate: Bool) -> Bool {
        version > .v4 && isUpdate && isCollection
    }

    /// Adds the binding to an entity's payload, in the version's spelling.
    ///
    /// - Parameter isUpdate: Whether the entity exists already. In an update of 4.01, a collection replaces the whole relation unless it is
    ///   written as a delta (Protocol 4.01, section 11.4.3.1).
    func write(
        to entity: inout DynamicEntity, _ format: PayloadFormat, isUpdate: Bool, url: (EntityReference) throws -> String
    ) rethrows {
        let urls = try targets.map { ODataValue.string(try url($0)) }
        let values: [ODataValue]
        let name: String
        switch format.version {
        case .v2:
            name = relation
            values = urls.map { .object([format.v2Bindings.rawValue: .object(["uri": $0])]) }
        case .v4:
            name = relation + "@odata.bind"
            values = urls
        case .v401:
            name = isDelta(in: format.version, isUpdate: isUpdate) ? relation + "@delta" : relation
            values = urls.map { .object(["@id": $0]) }
        }
        // The binding takes precedence over an inline null.
        if entity[relation]?.isNull == true { entity[relation] = nil }
        guard isCollection else {
            entity[relation] = nil
            entity[name] = values.first ?? .null
            return
        }
        // Adds to the links of another binding, or to the entity's inline values.
        let others: [ODataValue]
        switch entity[name] {
        case .array(let elements)?: others = elements.list
        case .object(let other)?: others = [.object(other)]
        default: others = []
        }
        let all = others + values
        // Olingo accepts the link of one entity, but not a list of links.
        if format.version == .v2, format.v2Bindings == .deferred, all.count == 1, others.isEmpty {
            entity[name] = all[0]
        } else {
            entity[name] = .array(.init(all))
        }
    }
}
