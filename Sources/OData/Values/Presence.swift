/// A property in one of three states: absent, null, or a value.
///
///     struct Person: Codable { let name: String; var nickname: Presence<String> }
///
/// Any coder supports it: absent properties aren't written, so that an update leaves them unchanged.
public enum Presence<Wrapped> {
    /// The payload doesn't contain the property, or it must not be written.
    case absent
    /// The property is null.
    case null
    /// The property's value.
    case value(Wrapped)

    /// The value, or `nil` if the property is absent or null.
    public var value: Wrapped? {
        if case .value(let value) = self { value } else { nil }
    }

    /// A Boolean value that indicates whether the payload contains the property, even if it is null.
    public var isPresent: Bool {
        if case .absent = self { false } else { true }
    }

    /// Creates a value, or null.
    public init(_ value: Wrapped?) {
        self = value.map { .value($0) } ?? .null
    }
}

extension Presence: Sendable where Wrapped: Sendable {}
extension Presence: Equatable where Wrapped: Equatable {}
extension Presence: Hashable where Wrapped: Hashable {}
