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
    /// The entities; of a relation to one, one.
    public var targets: [EntityReference]
    /// Whether the relation leads to many.
    public var isCollection: Bool

    /// A relation to one entity.
    public init(_ relation: String, to target: EntityReference) {
        self.relation = relation
        targets = [target]
        isCollection = false
    }

    /// A relation to many entities.
    public init(_ relation: String, toAll targets: [EntityReference]) {
        self.relation = relation
        self.targets = targets
        isCollection = true
    }

    /// Adds the binding to an entity's payload, in the version's spelling.
    func write(to entity: inout DynamicEntity, _ format: PayloadFormat, url: (EntityReference) throws -> String) rethrows {
        let urls = try targets.map { ODataValue.string(try url($0)) }
        let values: [ODataValue]
        let name: String
        switch format.version {
        case .v2:
            name = relation
            values = urls.map { .object(["__metadata": .object(["uri": $0])]) }
        case .v4:
            name = relation + "@odata.bind"
            values = urls
        case .v401:
            name = relation
            values = urls.map { .object(["@id": $0]) }
        }
        entity[name] = isCollection ? .array(values) : values.first ?? .null
    }
}
