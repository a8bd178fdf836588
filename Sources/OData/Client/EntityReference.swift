/// An entity that exists, named where another one is to be related to it.
public struct EntityReference: Sendable, Hashable {
    enum Target: Sendable, Hashable {
        case resource(ODataQuery)
        case id(String)
    }

    let target: Target

    /// The entity at a path, such as `ResourcePath(entitySet: "People").key("ada")`. It is written as an absolute URL.
    public init(_ resource: ResourcePath) {
        target = .resource(ODataQuery(resource))
    }

    /// The entity that a request asks for. It is written as an absolute URL.
    public init<Entity>(_ request: EntityRequest<Entity>) {
        var options = QueryOptions()
        options.aliases = request.options.aliases
        target = .resource(ODataQuery(request.resource, options: options))
    }

    /// The entity of an id that the service gave, ``EntityMetadata/id``, as it is.
    public init(id: String) {
        target = .id(id)
    }
}

/// Existing entities that a relation of a written entity is to lead to.
public struct EntityBinding: Sendable, Hashable {
    /// The relation's wire name.
    public var relation: String
    /// The entities; of a relation to one, one, or none to cut it.
    public var targets: [EntityReference]
    /// Whether the relation leads to many.
    public var isCollection: Bool

    /// A relation to one entity.
    public init(_ relation: String, to target: EntityReference) {
        self.relation = relation
        targets = [target]
        isCollection = false
    }

    /// A relation to one entity, which is cut: it leads to none then.
    public init(clearing relation: String) {
        self.relation = relation
        targets = []
        isCollection = false
    }

    /// A relation to many entities.
    public init(_ relation: String, toAll targets: [EntityReference]) {
        self.relation = relation
        self.targets = targets
        isCollection = true
    }

    /// Whether the binding can stand beside what the entity has of the relation itself: nothing, null, or others of a collection.
    ///
    /// - Parameter isDelta: whether the binding is written as a change of the relation, beside which there is no whole of it.
    func fits(_ inline: ODataValue?, isDelta: Bool) -> Bool {
        guard let inline, !inline.isNull else { return true }
        return isCollection && !isDelta && inline.array != nil
    }

    /// Whether the version writes the binding as a change of the relation.
    func isDelta(in version: ODataVersion, isUpdate: Bool) -> Bool {
        version > .v4 && isUpdate && isCollection
    }

    /// Adds the binding to an entity's payload, in the version's spelling.
    ///
    /// - Parameter isUpdate: whether the entity is there already. A collection in an update of 4.01 is the whole of the relation, unless it is written as
    ///   a delta (Protocol 4.01, section 11.4.3.1).
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
        // One counts more than null.
        if entity[relation]?.isNull == true { entity[relation] = nil }
        guard isCollection else {
            entity[relation] = nil
            entity[name] = values.first ?? .null
            return
        }
        // Beside what another binding adds, or the entity has.
        let others: [ODataValue]
        switch entity[name] {
        case .array(let elements)?: others = elements.list
        case .object(let other)?: others = [.object(other)]
        default: others = []
        }
        let all = others + values
        // Olingo takes the link of one entity, and no list of links.
        if format.version == .v2, format.v2Bindings == .deferred, all.count == 1, others.isEmpty {
            entity[name] = all[0]
        } else {
            entity[name] = .array(.init(all))
        }
    }
}
