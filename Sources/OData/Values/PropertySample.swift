/// A type that supplies sample values for determining wire names, because it rejects generated ones.
///
/// An example is a string-backed type that accepts only certain texts.
public protocol PropertySample {
    /// Returns a value that differs for each number, or at least for 0 and 1; `nil` if there is none.
    static func propertySample(_ number: Int) -> Self?
}
