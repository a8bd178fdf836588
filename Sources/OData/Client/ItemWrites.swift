import WebServiceClient

// Items in changes: what can be set, relations by key paths, and references by keys.

/// The kind of a change, for the question whether a property can be set.
public enum ItemWriting: Sendable, Hashable, CaseIterable {
    /// The entity is created.
    case creation
    /// The entity exists and is changed.
    case update
}

extension ODataItem {
    /// Returns whether a property can be set when an entity is created or updated: not if the metadata declare it as computed, as immutable
    /// (only when created), as read-only, or as part of the key (not in an update).
    ///
    /// A property that the metadata don't declare can always be set.
    public static func canSet(_ property: PartialKeyPath<Model>, in writing: ItemWriting) -> Bool {
        declaration(property).map { $0.refusal(in: writing) == nil } ?? true
    }

    /// Returns whether a property can be null.
    public static func isNullable(_ property: PartialKeyPath<Model>) -> Bool {
        declaration(property)?.isNullable ?? true
    }

    private static func declaration(_ property: PartialKeyPath<Model>) -> ItemProperty? {
        guard let descriptor = Model()[keyPath: property] as? any ItemDescriptor else { return nil }
        return Model.schema.table(of: Model.typeName)?.properties[descriptor.name]
    }

    /// Returns the item without the properties that can't be set, and without control information but the type, for example to create a
    /// copy of an entity.
    public func writable(in writing: ItemWriting) -> ODataItem {
        let table = ItemCheck(Model.schema).table(of: record, declaredAs: Model.typeName)
        let kept = record.properties.filter { property in
            guard ItemControl.isProperty(property.name) else { return ControlInformation.name(property.name) == "type" }
            return table?.properties[property.name]?.refusal(in: writing) == nil
        }
        return ODataItem(unchecked: DynamicEntity(kept))
    }
}

extension ItemProperty {
    /// Returns the reason why the property can't be set, as the end of a sentence; `nil` if it can.
    func refusal(in writing: ItemWriting) -> String? {
        if access.contains(.computed) { return "the service computes it" }
        if access.contains(.readOnly) { return "it can only be read" }
        switch writing {
        case .creation:
            return access.contains(.notCreatable) ? "it can be set only after the entity was created" : nil
        case .update:
            if access.contains(.key) { return "it is part of the key" }
            return access.contains(.immutable) ? "it can be set only when the entity is created" : nil
        }
    }
}

/// An item of any model, for code that gets entities of any type.
protocol WritableItem: Sendable {
    static var modelName: String { get }
    var record: DynamicEntity { get }
    /// Throws if one of the properties can't be set.
    func check(_ properties: DynamicEntity, in writing: ItemWriting) throws(ODataWriteError)
}

extension ODataItem: WritableItem {
    static var modelName: String { Model.typeName }

    func check(_ properties: DynamicEntity, in writing: ItemWriting) throws(ODataWriteError) {
        try ItemPermissions(schema: Model.schema, writing: writing).check(properties, typedBy: record, declaredAs: Model.typeName)
    }
}

/// Compares the properties of a change with those that the metadata let a client set.
private struct ItemPermissions {
    let schema: ItemSchema
    let writing: ItemWriting

    /// - Parameter object: the object that names the type of the properties.
    func check(_ properties: DynamicEntity, typedBy object: DynamicEntity, declaredAs type: String) throws(ODataWriteError) {
        guard let table = ItemCheck(schema).table(of: object, declaredAs: type) else { return }
        for property in properties.properties {
            guard let declaration = table.properties[property.name] else { continue }
            if let reason = declaration.refusal(in: writing) { throw .notSettable(property.name, reason: reason) }
            if property.value.isNull, !declaration.isNullable { throw .notSettable(property.name, reason: "it can't be null") }
            guard case .structured(let inner) = declaration.kind else { continue }
            switch property.value {
            case .object(let value): try check(value, typedBy: value, declaredAs: inner)
            case .array(let elements):
                for case .object(let value) in elements.list { try check(value, typedBy: value, declaredAs: inner) }
            default: continue
            }
        }
    }
}

extension ODataClient {
    /// A Boolean value that determines whether items are compared with their model: properties of another kind than declared are an error
    /// when they are read, and so is a change of a property that can't be set. Default: `true`.
    ///
    /// Set `false` for a service that breaks its own metadata. A value of another kind is then read as absent; ``ODataItem/subscript(_:)``
    /// returns it.
    public var checksItems: Bool {
        get { ItemSetting.checks(userInfo) }
        set {
            guard let key = ItemSetting.lenient else { return }
            userInfo[key] = newValue ? nil : true
        }
    }

    /// Returns the payload of an item that is created in a collection of another type, with the name of its type.
    func checked(_ payload: DynamicEntity, of entity: any Encodable, in writing: ItemWriting?, declared: Any.Type) throws -> DynamicEntity {
        guard let item = entity as? any WritableItem else { return payload }
        if let writing, checksItems { try item.check(payload, in: writing) }
        let name = type(of: item).modelName
        guard let declared = declared as? any WritableItem.Type, declared.modelName != name, !name.isEmpty,
            ItemControl.typeName(of: payload) == nil
        else { return payload }
        let type: DynamicEntity.Property =
            payloadFormat.version == .v2
            ? .init("__metadata", .object(["type": .string(name)]))
            : .init(payloadFormat.controlName("type"), .string(payloadFormat.typeReference(name)))
        return DynamicEntity([type] + payload.properties)
    }
}

extension EntityDraft {
    /// Sets a structural property; `nil` makes it null.
    public mutating func set<Model, Value: ItemValue>(_ property: KeyPath<Model, ItemField<Value>>, to value: Value?)
    where Entity == ODataItem<Model> {
        self.value.set(property, to: value)
    }

    /// Sets a relation to an existing entity, replacing the current one.
    public mutating func bind<Model, Target>(_ relation: KeyPath<Model, ItemOne<Target>>, to target: EntityReference)
    where Entity == ODataItem<Model> {
        bindings.append(EntityBinding(relation, to: target))
    }

    /// Clears a relation to one, in the same request as the other changes.
    public mutating func unbind<Model, Target>(_ relation: KeyPath<Model, ItemOne<Target>>) where Entity == ODataItem<Model> {
        bindings.append(EntityBinding(clearing: Model()[keyPath: relation].name))
    }

    /// Adds existing entities to a relation.
    public mutating func bind<Model, Target>(_ relation: KeyPath<Model, ItemMany<Target>>, toAll targets: [EntityReference])
    where Entity == ODataItem<Model> {
        bindings.append(EntityBinding(relation, toAll: targets))
    }
}

extension EntityBinding {
    /// Creates a binding of a relation of a model to one entity: `EntityBinding(\UserModel.manager, to: …)`.
    public init<Model: ItemModel, Target>(_ relation: KeyPath<Model, ItemOne<Target>>, to target: EntityReference) {
        self.init(Model()[keyPath: relation].name, to: target)
    }

    /// Creates a binding of a relation of a model to many entities.
    public init<Model: ItemModel, Target>(_ relation: KeyPath<Model, ItemMany<Target>>, toAll targets: [EntityReference]) {
        self.init(Model()[keyPath: relation].name, toAll: targets)
    }
}

extension EntityReference {
    /// Creates a reference to the entity with a key in an entity set or another collection.
    public init<Model>(_ key: ItemKey<Model>, in collection: ResourcePath) {
        self.init(collection.key(key))
    }

    /// Creates a reference to the entity with a key in the collection of a request.
    public init<Model>(_ key: ItemKey<Model>, in collection: FetchRequest<ODataItem<Model>>) {
        self.init(collection.resource.key(key))
    }
}
