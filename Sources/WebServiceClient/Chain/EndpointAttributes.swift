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
            // A cast takes much longer than a comparison of types, and most calls have other attributes.
            for value in values where Swift.type(of: value) == type {
                if let value = value as? Attribute { return value }
            }
            // Only a class can have values of another type: those of its subclasses.
            guard type is AnyClass else { return nil }
            return values.lazy.compactMap { $0 as? Attribute }.first
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

/// Attributes for the calls that a closure makes with one client: the level above the endpoint's own.
///
/// A task-local value carries them to the calls, so a client's methods need no second variant. Inside the chain there are none, so calls
/// that interceptors and providers make don't get them. Calls from a detached task don't either.
struct CallAttributes: Sendable {
    @TaskLocal static var current: CallAttributes?

    private let client: ObjectIdentifier
    private let attributes: EndpointAttributes
    /// The attributes of an outer closure.
    private let outer: [CallAttributes]

    init(client: AnyObject, _ added: [any EndpointAttribute]) {
        let client = ObjectIdentifier(client)
        self.client = client
        var attributes = EndpointAttributes()
        var outer = Self.current.map { [$0] + $0.outer } ?? []
        if let index = outer.firstIndex(where: { $0.client == client }) { attributes = outer.remove(at: index).attributes }
        for attribute in added { attributes.set(attribute) }
        self.attributes = attributes
        self.outer = outer
    }

    /// The attributes of a client's calls; `nil` if there are none.
    func attributes(for client: ObjectIdentifier) -> EndpointAttributes? {
        self.client == client ? attributes : outer.first { $0.client == client }?.attributes
    }
}
