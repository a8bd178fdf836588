import WebServiceClient

/// An entity or a complex value of a generated model: the payload's object, with properties that the model describes.
///
///     let users = try await client.fetch(client.users.filter { $0.displayName == "Ada" })
///     for user in users { print(user.displayName.value ?? "", user.home.value?.city.value ?? "") }
///
/// A property is a ``Presence``: absent, null or a value. It is absent if the payload doesn't contain it, for example because the query
/// didn't select it. A navigation property is a ``ToOne`` or a ``ToMany``, a stream an ``EdmStream``. Values that aren't in the model,
/// annotations and control information are kept: ``subscript(_:)``, ``undeclared``, ``metadata``.
///
/// Declared properties are checked while an item is decoded: a value of another kind than the model's is a `DecodingError`, so that reading
/// a property can't fail. An item that your code creates isn't checked, and its values of another kind are read as absent. If a service
/// breaks its own model, set ``ODataClient/checksItems`` to `false` to accept such values in payloads too.
///
/// The generator appends a `_` to the names of properties that would hide members of this type: `as`, `debugDescription`, `encode`, `hash`,
/// `hashValue`, `metadata`, `odataValue`, `record`, `seen`, `set`, `undeclared` and `writable`.
@dynamicMemberLookup
public struct ODataItem<Model: ItemModel>: Sendable {
    /// The object of the payload, with control information and annotations.
    public internal(set) var record: DynamicEntity
    /// Whether the item is a sample that records the property of a key path; it has no properties.
    @usableFromInline let isSample: Bool

    /// Creates an item without properties.
    public init() {
        self.init(unchecked: DynamicEntity())
    }

    /// Creates an item from an object.
    ///
    /// - Throws: `DecodingError` if a declared property is of another kind than in the model.
    public init(_ record: DynamicEntity) throws {
        var check = ItemCheck(Model.schema)
        if let fault = check.fault(in: record, declaredAs: Model.typeName) { throw fault.error(inside: []) }
        self.init(unchecked: record)
    }

    init(unchecked record: DynamicEntity) {
        self.record = record
        isSample = false
    }

    init(sample: Void) {
        record = DynamicEntity()
        isSample = true
    }

    // MARK: Properties

    // Inlinable, because the optimizer then replaces a literal key path by the name that it leads to.

    /// A structural property. Setting ``Presence/absent`` removes it from the item, and an update leaves it unchanged.
    @inlinable
    public subscript<Value: ItemValue>(dynamicMember property: KeyPath<Model, ItemField<Value>>) -> Presence<Value> {
        get {
            guard let value = record[Model()[keyPath: property].name] else {
                if isSample { note(property) }
                return .absent
            }
            if case .null = value { return .null }
            return Value(odata: value).map { .value($0) } ?? .absent
        }
        set { store(newValue, Model()[keyPath: property].name) }
    }

    /// The entity of a navigation property, if the query expanded it.
    @inlinable
    public subscript<Target>(dynamicMember property: KeyPath<Model, ItemOne<Target>>) -> ToOne<ODataItem<Target>> {
        get {
            if isSample { note(property) }
            return related(Model()[keyPath: property].name)
        }
        set { relate(newValue, Model()[keyPath: property].name) }
    }

    /// The entities of a navigation property, if the query expanded it, with their number and the link to the rest.
    @inlinable
    public subscript<Target>(dynamicMember property: KeyPath<Model, ItemMany<Target>>) -> ToMany<ODataItem<Target>> {
        get {
            if isSample { note(property) }
            return related(Model()[keyPath: property].name)
        }
        set { relate(newValue, Model()[keyPath: property].name) }
    }

    /// The links of a stream property.
    @inlinable
    public subscript(dynamicMember property: KeyPath<Model, ItemStream>) -> EdmStream {
        if isSample { note(property) }
        return stream(Model()[keyPath: property].name)
    }

    /// A property by its wire name, such as an annotation or a property that the model doesn't declare, as in open types. `nil` if it is
    /// absent; setting `nil` removes it.
    public subscript(_ name: String) -> ODataValue? {
        get { record[name] }
        set { record[name] = newValue }
    }

    /// Sets a structural property; `nil` makes it null.
    public mutating func set<Value: ItemValue>(_ property: KeyPath<Model, ItemField<Value>>, to value: Value?) {
        store(Presence(value), Model()[keyPath: property].name)
    }

    /// The properties that the model doesn't declare, without annotations, in the payload's order.
    public var undeclared: DynamicEntity {
        let declared = Model.schema.table(of: recordedType ?? Model.typeName) ?? Model.schema.table(of: Model.typeName)
        return DynamicEntity(
            record.properties.filter { declared?.properties[$0.name] == nil && ItemControl.isProperty($0.name) })
    }

    /// The metadata of the entity: its entity tag, id, links, operations and annotations.
    public var metadata: EntityMetadata { EntityMetadata(record) }

    @usableFromInline mutating func store<Value: ItemValue>(_ value: Presence<Value>, _ name: String) {
        switch value {
        case .absent: record[name] = nil
        case .null: record[name] = .null
        case .value(let value): record[name] = value.odataValue
        }
    }
}

// MARK: - Types

extension ODataItem {
    /// The name of the item's type in the payload, if it has one.
    var recordedType: String? { ItemControl.typeName(of: record) }

    /// Returns the item as one of another type of the same service if it is of that type or a derived one, otherwise `nil`.
    ///
    ///     if let user = object.as(User.self) { print(user.displayName) }
    ///
    /// The type is the one that the payload names, or the declared one if it names none. A derived type that the schema doesn't have counts
    /// as the declared one. Nothing is copied. If an item of a derived type doesn't name its type, the result names it, so that the type
    /// isn't lost when the result is written.
    public func `as`<Other>(_ type: ODataItem<Other>.Type = ODataItem<Other>.self) -> ODataItem<Other>? {
        if let same = self as? ODataItem<Other> { return same }
        let schema = Model.schema
        guard schema === Other.schema else { return nil }
        let recorded = recordedType
        let name = recorded.flatMap { schema.contains($0) ? $0 : nil } ?? Model.typeName
        guard schema.type(name, isKindOf: Other.typeName) else { return nil }
        guard recorded == nil, name != Other.typeName else { return ODataItem<Other>(unchecked: record) }
        var named = record
        named["@odata.type"] = .string("#" + name)
        return ODataItem<Other>(unchecked: named)
    }

    /// Returns the same object with another model, regardless of its type.
    ///
    /// - Throws: `DecodingError` if a property that the other model declares is of another kind.
    public func seen<Other>(as type: ODataItem<Other>.Type = ODataItem<Other>.self) throws -> ODataItem<Other> {
        if let same = self.as(type) { return same }
        return try ODataItem<Other>(record)
    }
}

extension ODataItem: Hashable {
    /// Returns whether both have the same properties, in the same order.
    public static func == (left: ODataItem, right: ODataItem) -> Bool { left.record == right.record }

    /// Hashes the properties.
    public func hash(into hasher: inout Hasher) { hasher.combine(record) }
}

extension ODataItem: ItemValue {
    /// Reads an object; its properties aren't checked.
    public init?(odata value: ODataValue) {
        guard case .object(let record) = value, PayloadDecoder.deferredLink(record) == nil else { return nil }
        self.init(unchecked: record)
    }

    /// The object.
    public var odataValue: ODataValue { .object(record) }
}

// Not `CustomStringConvertible`: its `description` would hide properties of that name, which are common.
extension ODataItem: CustomDebugStringConvertible {
    /// The name of the type and the first properties, with long texts cut, nested values omitted and secrets masked.
    public var debugDescription: String {
        let properties = record.properties.filter { ItemControl.isProperty($0.name) }
        let shown = properties.prefix(8).map { "\($0.name.prefix(40)): \(Self.shown($0))" } + (properties.count > 8 ? ["…"] : [])
        return VisibleText.of("\(recordedType ?? Model.typeName)(\(shown.joined(separator: ", ")))")
    }

    private static func shown(_ property: DynamicEntity.Property) -> String {
        if SecretMask.hidesMember(named: property.name) { return "…" }
        return switch property.value {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .decimal(let value): String(value.description.prefix(40))
        case .string(let text): text.count > 40 ? "'\(text.prefix(40))…'" : "'\(text)'"
        case .array(let elements): "[\(elements.count)]"
        case .object: "{…}"
        }
    }
}
