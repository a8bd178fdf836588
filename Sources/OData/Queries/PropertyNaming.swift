/// A type that states the wire names of its properties, where decoding a sample of it can't determine them or costs too much.
///
///     extension Product: PropertyNaming {
///         static var propertyNames: [PartialKeyPath<Product>: String] { [\.kind: "Kind", \.price: "UnitPrice"] }
///     }
///
/// The names of other properties are still determined by decoding samples. No sample is decoded if a type also states
/// ``decodedProperties`` and the names of all key paths that requests use: write all three properties for generated types.
///
///     extension User: PropertyNaming {
///         static var propertyNames: [PartialKeyPath<User>: String] { [\.id: "id", \.name: "displayName", \.manager: "manager"] }
///         static var decodedProperties: DecodedProperties { .names(["id", "displayName", "manager"], relations: ["manager"]) }
///         static var defaultSelection: DefaultSelection { .names(["id", "displayName"]) }
///     }
public protocol PropertyNaming {
    /// The wire names by key path; `/` separates the steps to a property of a complex property. Empty by default.
    ///
    /// A computed property, because the key paths of a stored one would have to be `Sendable`.
    static var propertyNames: [PartialKeyPath<Self>: String] { get }
    /// The properties that the type decodes. By default, they are determined by decoding samples.
    static var decodedProperties: DecodedProperties { get }
    /// The properties that a request selects unless it selects others. By default, those that the type decodes.
    static var defaultSelection: DefaultSelection { get }
}

extension PropertyNaming {
    /// No names: decoding samples determines the names of all properties.
    public static var propertyNames: [PartialKeyPath<Self>: String] { [:] }
    /// The properties that decoding a sample of the type shows.
    public static var decodedProperties: DecodedProperties { .sampled }
    /// The properties that the type decodes.
    public static var defaultSelection: DefaultSelection { .decoded }
}

/// The properties that a type decodes, as ``PropertyNaming`` states them.
public enum DecodedProperties: Sendable, Hashable {
    /// Those that decoding a sample of the type shows.
    case sampled
    /// These and no others, by their wire names, in the order of `$select`. All other properties of a payload are undeclared.
    ///
    /// `relations` are the names of those that are relations.
    case names([String], relations: Set<String> = [])
    /// Any: the type keeps all properties of a payload, as ``DynamicEntity`` does. No sample is decoded, and nothing is selected by
    /// default.
    case all
}

/// The properties that a request for a type selects unless it selects others, as ``PropertyNaming`` states them.
///
/// Expanded relations are returned in any case, with their own selections.
public enum DefaultSelection: Sendable, Hashable {
    /// Those that the type decodes, if they are known, without relations. In version 2 relations are selected too, because a service then
    /// sends their links.
    case decoded
    /// None: the service chooses the properties. For types with many properties, if the service refuses some of them in lists.
    case none
    /// These, by their wire names.
    case names([String])
}
