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
    /// copy of an entity. Complex values, expanded entities and the elements of collections are treated alike.
    ///
    /// Nulls of properties that can't be null are left out, too: services send them for what a query didn't select.
    public func writable(in writing: ItemWriting) -> ODataItem {
        ODataItem(unchecked: ItemPermissions(schema: Model.schema, writing: writing).writable(record, declaredAs: Model.typeName))
    }
}

extension ItemProperty {
    /// Whether no client ever sets the property.
    var isOfService: Bool { !access.isDisjoint(with: [.computed, .readOnly]) }

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
    /// Returns properties that are about to be sent. Throws if one of them can't be set.
    ///
    /// - Parameter original: The payload of the entity as it was read; `nil` if the properties are the whole entity.
    func settable(
        _ properties: DynamicEntity, from original: DynamicEntity?, in writing: ItemWriting
    ) throws(ODataWriteError) -> DynamicEntity
}

extension ODataItem: WritableItem {
    static var modelName: String { Model.typeName }

    func settable(
        _ properties: DynamicEntity, from original: DynamicEntity?, in writing: ItemWriting
    ) throws(ODataWriteError) -> DynamicEntity {
        try ItemPermissions(schema: Model.schema, writing: writing).settable(
            properties, typedBy: record, declaredAs: Model.typeName, from: original.map { [$0] } ?? [])
    }
}

/// Compares properties with those that the metadata let a client set.
///
/// Recursion is bounded because values nest at most 512 levels deep.
private struct ItemPermissions {
    let schema: ItemSchema
    let writing: ItemWriting

    /// Returns why a property can't be set. The elements of a collection have no identity: a change replaces all of them, so that each is
    /// created again.
    private func refusal(of property: ItemProperty, inElement isElement: Bool) -> String? {
        property.refusal(in: isElement && !property.isOfService ? .creation : writing)
    }

    // MARK: Copies

    /// Returns an object without what can't be set.
    func writable(_ object: DynamicEntity, declaredAs type: String, inElement isElement: Bool = false) -> DynamicEntity {
        let table = ItemCheck(schema).table(of: object, declaredAs: type)
        return DynamicEntity(
            object.properties.compactMap { property in
                if !ItemControl.isProperty(property.name) { return Self.type(property) }
                guard let declaration = table?.properties[property.name] else { return property }
                if refusal(of: declaration, inElement: isElement) != nil || property.value.isNull && !declaration.isNullable { return nil }
                guard case .structured(let inner) = declaration.kind else { return property }
                let value = Self.mapped(property.value) { writable($0, declaredAs: inner, inElement: isElement || $1) }
                return DynamicEntity.Property(property.name, value)
            })
    }

    /// Returns control information if it names a type; version 2 has more information in the same object.
    private static func type(_ control: DynamicEntity.Property) -> DynamicEntity.Property? {
        guard ItemControl.typeNames.contains(control.name) else { return nil }
        guard case .object(let object) = control.value else { return control }
        return object["type"].map { DynamicEntity.Property(control.name, .object(["type": $0])) }
    }

    /// Returns a value with other objects: it is one, or has them as elements.
    ///
    /// - Parameter change: Returns another object; its second argument is `true` if the object is an element.
    private static func mapped<Failure: Error>(
        _ value: ODataValue, _ change: (DynamicEntity, Bool) throws(Failure) -> DynamicEntity
    ) throws(Failure) -> ODataValue {
        switch value {
        case .object(let object):
            // Version 2 sends a link in place of a relation, and an envelope around a collection.
            if PayloadDecoder.deferredLink(object) != nil { return value }
            guard case .array(let elements)? = object["results"] else { return .object(try change(object, false)) }
            var envelope = object
            envelope["results"] = try mapped(.array(elements), change)
            return .object(envelope)
        case .array(let elements):
            var list = elements.list
            for index in list.indices {
                guard case .object(let element) = list[index] else { continue }
                list[index] = .object(try change(element, true))
            }
            return .array(list)
        default: return value
        }
    }

    // MARK: Changes

    /// Returns properties that are about to be sent, without what the caller didn't change and no client can set: where a value is sent as
    /// a whole, such as a collection, it has members that were only read.
    ///
    /// - Parameters:
    ///   - object: The object that names the type of the properties.
    ///   - originals: The objects that were read at the place of the properties.
    func settable(
        _ properties: DynamicEntity, typedBy object: DynamicEntity, declaredAs type: String, from originals: [DynamicEntity],
        inElement isElement: Bool = false
    ) throws(ODataWriteError) -> DynamicEntity {
        guard let table = ItemCheck(schema).table(of: object, declaredAs: type) else { return properties }
        var result = properties
        for property in properties.properties {
            guard let declaration = table.properties[property.name] else { continue }
            let before = originals.compactMap { $0[property.name] }
            let isNull = property.value.isNull && !declaration.isNullable
            let refusal = refusal(of: declaration, inElement: isElement) ?? (isNull ? "it can't be null" : nil)
            if let refusal {
                guard before.contains(where: { $0.isSame(as: property.value) }) else { throw .notSettable(property.name, reason: refusal) }
                // An equal value isn't a change, but a property that can be set only once would lose it if it weren't sent.
                if declaration.isOfService || isNull { result[property.name] = nil }
                continue
            }
            guard case .structured(let inner) = declaration.kind else { continue }
            let objects = before.flatMap(Self.objects)
            result[property.name] = try Self.mapped(property.value) { (value, isElementOfValue) throws(ODataWriteError) in
                try settable(value, typedBy: value, declaredAs: inner, from: objects, inElement: isElement || isElementOfValue)
            }
        }
        return result
    }

    /// The objects that a value is or has as elements.
    private static func objects(_ value: ODataValue) -> [DynamicEntity] {
        switch value {
        case .object(let object): object["results"].map(objects) ?? [object]
        case .array(let elements): elements.list.compactMap(\.object)
        default: []
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
        let payload = if let writing, checksItems { try item.settable(payload, from: nil, in: writing) } else { payload }
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

    /// Clears a to-one relation, in the same request as the other changes.
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
