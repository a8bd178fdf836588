/// Which Swift types stand for which types of the service, for entities and complex values of derived types.
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
    /// The names of the types that derive from another.
    private var derived: [ObjectIdentifier: String] = [:]

    /// A registry without types.
    public init() {}

    /// Says which Swift type stands for a type of the service, and what that derives from.
    public mutating func register<Value: Decodable & Sendable>(_ type: Value.Type, as name: String, derivedFrom base: String? = nil) {
        entries[name] = Entry(type: type, base: base)
        if base != nil { derived[ObjectIdentifier(type)] = name }
    }

    /// Says what a type of the service derives from that no Swift type stands for.
    public mutating func register(_ name: String, derivedFrom base: String) {
        entries[name] = Entry(base: base)
    }

    /// The Swift type for a type of the service, or for the nearest of its bases that has one.
    func nearest(to name: String) -> (name: String, type: any (Decodable & Sendable).Type)? {
        var name = name
        // A circle in what was registered ends here.
        for _ in 0...entries.count {
            guard let entry = entries[name] else { return nil }
            if let type = entry.type { return (name, type) }
            guard let base = entry.base else { return nil }
            name = base
        }
        return nil
    }

    /// The name of the service's type that a Swift type stands for.
    public func name(of type: any Any.Type) -> String? {
        entries.first { $0.value.type.map { $0 == type } ?? false }?.key
    }

    /// The name that values of a Swift type must say on the wire, since another type may be declared where they stand.
    func derivedName(of type: any Any.Type) -> String? {
        derived.isEmpty ? nil : derived[ObjectIdentifier(type)]
    }

    /// The types that derive from nothing that is registered.
    var roots: [(name: String, type: any (Decodable & Sendable).Type)] {
        entries.compactMap { name, entry in
            guard entry.base == nil, let type = entry.type else { return nil }
            return (name, type)
        }
        .sorted { $0.name < $1.name }
    }
}
