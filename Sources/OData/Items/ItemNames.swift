import WebServiceClient

// The wire names of key paths. An item's key path leads to a description with the name. Reading the key path from a sample records it.

extension ODataItem: DescribedEntity {
    static var isInModel: Bool { Model.schema.table(of: Model.typeName) != nil }

    static func declares(_ name: String) -> Bool {
        Model.schema.table(of: Model.typeName)?.properties[name] != nil
    }

    static func segments(of keyPath: AnyKeyPath) -> [QueryPath.Segment] {
        if let known = ItemNames.known(keyPath) { return known }
        let found = found(keyPath)
        ItemNames.keep(found, for: keyPath)
        return found
    }

    private static func found(_ keyPath: AnyKeyPath) -> [QueryPath.Segment] {
        func unknown(_ reason: String) -> [QueryPath.Segment] {
            [.unresolved(.unknownProperty("\(keyPath)", type: "\(Model.self)", reason: reason))]
        }
        guard let path = keyPath as? PartialKeyPath<Self> else { return unknown("its root type isn't \(Self.self)") }
        let recorder = ItemRecorder()
        ItemRecorder.$current.withValue(recorder) { _ = Self(sample: ())[keyPath: path] }
        let notes = recorder.notes.withLock { $0 }
        guard notes.count == 1, let note = notes.first else {
            return unknown(notes.isEmpty ? "it isn't a property of the model" : "it reads several properties")
        }
        guard note.paths.contains(path) else { return unknown("it is computed from '\(note.name)'") }
        return [.property(note.name)]
    }

    @usableFromInline func note<Value>(_ property: KeyPath<Model, ItemField<Value>>) where Value: ItemValue {
        let own = \Self.[dynamicMember: property] as KeyPath<Self, Presence<Value>>
        ItemRecorder.note(Model()[keyPath: property], [own, own.appending(path: \.value)])
    }

    @usableFromInline func note<Target>(_ property: KeyPath<Model, ItemOne<Target>>) {
        let own = \Self.[dynamicMember: property] as KeyPath<Self, ToOne<ODataItem<Target>>>
        ItemRecorder.note(Model()[keyPath: property], [own, own.appending(path: \.value)])
    }

    @usableFromInline func note<Target>(_ property: KeyPath<Model, ItemMany<Target>>) {
        let own = \Self.[dynamicMember: property] as KeyPath<Self, ToMany<ODataItem<Target>>>
        ItemRecorder.note(Model()[keyPath: property], [own, own.appending(path: \.elements)])
    }

    @usableFromInline func note(_ property: KeyPath<Model, ItemStream>) {
        ItemRecorder.note(Model()[keyPath: property], [\Self.[dynamicMember: property] as KeyPath<Self, EdmStream>])
    }
}

/// The names of the key paths that were used. Programs have a bounded number of key paths.
private enum ItemNames {
    private static let names = Locked<[AnyKeyPath: [QueryPath.Segment]]>([:])

    static func known(_ keyPath: AnyKeyPath) -> [QueryPath.Segment]? { names.withLock { $0[keyPath] } }

    static func keep(_ segments: [QueryPath.Segment], for keyPath: AnyKeyPath) {
        names.withLock { $0[keyPath] = segments }
    }
}

/// Records the properties that a key path reads.
private final class ItemRecorder: Sendable {
    struct Note {
        let name: String
        /// The key paths to the property itself. Another key path that reads the property computes a value from it.
        let paths: [AnyKeyPath]
    }

    @TaskLocal static var current: ItemRecorder?

    let notes = Locked<[Note]>([])

    static func note(_ property: some ItemDescriptor, _ paths: [AnyKeyPath]) {
        current?.notes.withLock { $0.append(Note(name: property.name, paths: paths)) }
    }
}

// MARK: - Queries

/// An item, or an optional one: the value of a query's term.
public protocol ItemOperand {
    /// The model of the item.
    associatedtype ItemOperandModel: ItemModel
}

extension ODataItem: ItemOperand {
    /// The model of the item.
    public typealias ItemOperandModel = Model
}

extension Optional: ItemOperand where Wrapped: ItemOperand {
    /// The model of the item.
    public typealias ItemOperandModel = Wrapped.ItemOperandModel
}

extension QueryTerm where Value: ItemOperand {
    /// Returns the entity or complex value cast to a derived type: `$0.manager.as(User.self).displayName` is
    /// `manager/microsoft.graph.user/displayName`.
    public func `as`<Model>(_ type: ODataItem<Model>.Type) -> QueryTerm<ODataItem<Model>> {
        cast(to: type, named: Model.typeName)
    }

    /// Returns whether the entity or complex value is of a type: `isof(manager,microsoft.graph.user)`.
    public func isOf<Model>(_ type: ODataItem<Model>.Type) -> QueryTerm<Bool> {
        isOf(Model.typeName)
    }
}

extension FetchRequest where Entity: ItemOperand {
    /// Casts the entities to a derived type of the model: `directoryObjects/microsoft.graph.user`. The options are kept.
    public func cast<Model>(to type: ODataItem<Model>.Type) -> FetchRequest<ODataItem<Model>> {
        cast(to: type, named: Model.typeName)
    }
}

extension EntityRequest where Entity: ItemOperand {
    /// Casts the entity to a derived type of the model. The options are kept.
    public func cast<Model>(to type: ODataItem<Model>.Type) -> EntityRequest<ODataItem<Model>> {
        cast(to: type, named: Model.typeName)
    }
}
