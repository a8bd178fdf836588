/// A type that says the wire names of its properties itself, where decoding a sample can't find them.
///
///     extension Product: PropertyNaming {
///         static var propertyNames: [PartialKeyPath<Product>: String] { [\.kind: "Kind", \.price: "UnitPrice"] }
///     }
///
/// A computed property, as key paths in a stored one would have to be `Sendable`. What isn't listed is still looked for by decoding
/// a sample.
public protocol PropertyNaming {
    /// Wire names by key path; `/` separates the steps to a property of a complex property.
    static var propertyNames: [PartialKeyPath<Self>: String] { get }
}

/// A type that supplies values for the samples which wire names are found with, since it would refuse to decode made-up ones.
///
/// A string-backed type that accepts only certain texts would do this, for example.
public protocol PropertySample {
    /// A value that differs for each number, or at least for 0 and 1; `nil` where there is none.
    static func propertySample(_ number: Int) -> Self?
}
