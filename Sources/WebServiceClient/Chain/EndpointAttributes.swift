/// A custom attribute of an endpoint, set in its table and read by interceptors by its type.
///
///     struct Audited: EndpointAttribute { let by: String }
///
///     "pay(order:)": .post("/orders/%%0%%/pay").attribute(Audited(by: "billing"))
///
///     context.attributes[Audited.self]?.by
public protocol EndpointAttribute: Sendable {}

/// The attributes of an endpoint: at most one of each type.
public struct EndpointAttributes: Sendable {
    private var values: [any EndpointAttribute] = []

    /// Creates an empty set.
    public init() {}

    /// The attribute of a type; `nil` if it isn't set.
    public subscript<Attribute: EndpointAttribute>(type: Attribute.Type) -> Attribute? {
        get {
            for value in values {
                if let value = value as? Attribute { return value }
            }
            return nil
        }
        set {
            values.removeAll { $0 is Attribute }
            if let newValue { values.append(newValue) }
        }
    }

    /// All attributes, in the order in which they were set.
    public var all: [any EndpointAttribute] { values }

    /// Sets an attribute whose type is known only at run time.
    mutating func set(_ attribute: any EndpointAttribute) {
        let kind = type(of: attribute)
        values.removeAll { type(of: $0) == kind }
        values.append(attribute)
    }

    /// Whether the collection is empty.
    var isEmpty: Bool { values.isEmpty }

    /// Returns these attributes overridden by those of `other`.
    func overlaid(by other: EndpointAttributes) -> EndpointAttributes {
        var result = self
        for attribute in other.values { result.set(attribute) }
        return result
    }
}
