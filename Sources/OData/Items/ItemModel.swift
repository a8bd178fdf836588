public import Foundation

/// The description of an entity type or a complex type of a service's model, which generated code declares.
///
/// A model has no stored properties: its members describe the type's properties. The values have the type `ODataItem` of the model:
/// `typealias User = ODataItem<UserModel>`.
///
///     struct UserModel: DirectoryObjectProperties {
///         var displayName: ItemField<String> { .init("displayName") }
///         var manager: ItemOne<DirectoryObjectModel> { .init("manager") }
///         …
///     }
///
/// The properties of a base type are in an extension of a protocol, and the models of all derived types conform to it. For properties that
/// the metadata doesn't contain, such as Graph's extension properties, declare members in an extension of the model; their values aren't
/// checked while decoding.
public protocol ItemModel: Sendable {
    /// Creates the description.
    init()
    /// The qualified name of the type, such as `microsoft.graph.user`.
    static var typeName: String { get }
    /// The schema that lists the type's properties.
    static var schema: ItemSchema { get }
}

/// The description of a structural property: its wire name and the Swift type of its values.
public struct ItemField<Value>: ItemDescriptor {
    /// The wire name.
    public let name: String

    /// Creates a description.
    @inlinable public init(_ name: String) {
        self.name = name
    }
}

/// The description of a navigation property to at most one entity.
public struct ItemOne<Target: ItemModel>: ItemDescriptor {
    /// The wire name.
    public let name: String

    /// Creates a description.
    @inlinable public init(_ name: String) {
        self.name = name
    }
}

/// The description of a navigation property to a collection of entities.
public struct ItemMany<Target: ItemModel>: ItemDescriptor {
    /// The wire name.
    public let name: String

    /// Creates a description.
    @inlinable public init(_ name: String) {
        self.name = name
    }
}

/// The description of a stream property.
public struct ItemStream: ItemDescriptor {
    /// The wire name.
    public let name: String

    /// Creates a description.
    @inlinable public init(_ name: String) {
        self.name = name
    }
}

/// The description of a property: ``ItemField``, ``ItemOne``, ``ItemMany`` or ``ItemStream``.
public protocol ItemDescriptor: Sendable, Hashable {
    /// The wire name.
    var name: String { get }
}

/// The model of a type that generated code doesn't include. Access its properties by their names.
///
/// ``ODataItem/seen(as:)`` gives such an item a model.
public struct UntypedModel: ItemModel {
    /// Creates the description.
    public init() {}
    /// The empty string.
    public static var typeName: String { "" }
    /// An empty schema.
    public static let schema = ItemSchema("")
}

/// A value of `Edm.Guid`.
public typealias EdmGuid = UUID
