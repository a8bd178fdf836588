/// A mapping of the service's types to Swift types, for entities and complex values of derived types.
///
///     var types = TypeRegistry()
///     types.register(Person.self, as: "Sales.Person")
///     types.register(Employee.self, as: "Sales.Employee", derivedFrom: "Sales.Person")
///     types.register("Sales.Manager", derivedFrom: "Sales.Employee")       // without a Swift type: read as Employee
public struct TypeRegistry: Sendable {
    private struct Entry: Sendable {
        var type: (any (Decodable & Sendable).Type)?
        var base: String?
    }

    private var entries: [String: Entry] = [:]
    /// The names of the types that derive from another registered one.
    private var derived: [ObjectIdentifier: String] = [:]

    /// Creates an empty registry.
    public init() {}

    /// Maps a type of the service to a Swift type, and records its base type.
    public mutating func register<Value: Decodable & Sendable>(_ type: Value.Type, as name: String, derivedFrom base: String? = nil) {
        entries[name] = Entry(type: type, base: base)
        if base != nil { derived[ObjectIdentifier(type)] = name }
    }

    /// Records the base type of a service type without a Swift type.
    public mutating func register(_ name: String, derivedFrom base: String) {
        entries[name] = Entry(base: base)
    }

    /// Returns the Swift type for a service type, or for its nearest base that has one.
    func nearest(to name: String) -> (name: String, type: any (Decodable & Sendable).Type)? {
        var name = name
        // The count bounds the loop if the registered types form a cycle.
        for _ in 0...entries.count {
            guard let entry = entries[name] else { return nil }
            if let type = entry.type { return (name, type) }
            guard let base = entry.base else { return nil }
            name = base
        }
        return nil
    }

    /// Returns the name of the service type that a Swift type is mapped to.
    public func name(of type: any Any.Type) -> String? {
        entries.first { $0.value.type.map { $0 == type } ?? false }?.key
    }

    /// Returns the type name that values of a Swift type must carry in payloads, because the declared type may be a base.
    func derivedName(of type: any Any.Type) -> String? {
        derived.isEmpty ? nil : derived[ObjectIdentifier(type)]
    }

    /// The types without a registered base.
    var roots: [(name: String, type: any (Decodable & Sendable).Type)] {
        entries.compactMap { name, entry in
            guard entry.base == nil, let type = entry.type else { return nil }
            return (name, type)
        }
        .sorted { $0.name < $1.name }
    }
}
