/// The key of an entity of a generated model. The key function of the entity's type makes it.
///
///     client.users.key(User.key("7"))                                   // users('7')
///     client.order_Details.key(Order_Detail.key(orderID: 1, productID: 7))
///     draft.bind(\.manager, to: EntityReference(DirectoryObject.key("8"), in: client.directoryObjects))
public struct ItemKey<Model: ItemModel>: Sendable, Hashable {
    /// The key's properties with their values. A key of one property has no name.
    public let parts: [ResourcePath.KeyPart]

    /// Creates a key from the wire names and the values of its properties.
    public init(_ values: KeyValuePairs<String, any EdmConvertible>) {
        parts = values.map { ResourcePath.KeyPart(name: values.count == 1 ? nil : $0.key, .literal($0.value.edmValue)) }
    }

    /// Creates an alternate key (`Core.AlternateKeys`) from the names and the values of its properties. The names are always written.
    public init(alternate values: KeyValuePairs<String, any EdmConvertible>) {
        parts = values.map { ResourcePath.KeyPart(name: $0.key, .literal($0.value.edmValue)) }
    }

    fileprivate init(_ parts: [ResourcePath.KeyPart]) {
        self.parts = parts
    }
}

extension ODataItem {
    /// Returns the key of an item; `nil` if the item lacks a property of the key, or the schema doesn't have all of them.
    public static func key(of item: ODataItem) -> ItemKey<Model>? {
        let schema = Model.schema
        guard let table = ItemCheck(schema).table(of: item.record, declaredAs: Model.typeName), !table.key.isEmpty else { return nil }
        var parts: [ResourcePath.KeyPart] = []
        for part in table.key {
            guard let literal = literal(at: part.path, in: item.record, table) else { return nil }
            parts.append(ResourcePath.KeyPart(name: table.key.count == 1 ? nil : part.name, .literal(literal)))
        }
        return ItemKey(parts)
    }

    /// Returns the value at the end of a path, which can go through complex values.
    private static func literal(at path: [String], in record: DynamicEntity, _ table: ItemTable) -> EdmValue? {
        var (record, table) = (record, table)
        for name in path.dropLast() {
            guard let property = table.properties[name], !property.isCollection, case .structured(let type) = property.kind,
                case .object(let inner)? = record[name], let found = ItemCheck(Model.schema).table(of: inner, declaredAs: type)
            else { return nil }
            (record, table) = (inner, found)
        }
        guard let name = path.last, let value = record[name], let property = table.properties[name], !property.isCollection else {
            return nil
        }
        return property.kind.literal(value)
    }
}

extension ResourcePath {
    /// Returns a member by its key.
    public func key<Model>(_ key: ItemKey<Model>) -> ResourcePath {
        appending(.key(key.parts))
    }
}

extension FetchRequest {
    /// Returns a request for one entity of the collection by its key.
    public func key<Model>(_ key: ItemKey<Model>) -> EntityRequest<Entity> where Entity == ODataItem<Model> {
        EntityRequest(resource: resource.key(key), options: options)
    }
}
