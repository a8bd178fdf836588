extension PayloadNode {
    /// What says the type of an object: in 4.0, in 4.01, in version 2.
    private static let typeNames: Set<String> = ["@odata.type", "@type", "__metadata"]

    /// What is other than it was; `nil` where nothing is.
    ///
    /// A member that is no more becomes null, since what isn't mentioned stays as it is (Protocol 4.01, section 11.4.3): so does a dictionary's
    /// entry, or what an enum was before.
    ///
    /// - Parameter isNested: whether of complex values only the changed properties count.
    func difference(from old: PayloadNode, isNested: Bool, isTop: Bool = true) throws -> ODataValue? {
        if isTop || isNested && !isGeographic && !old.isGeographic {
            // What has no Swift type has its properties in one value.
            takeApart()
            old.takeApart()
        }
        guard case .object(let members) = content, case .object(let others) = old.content, isNested || isTop else {
            let value = value
            return value.isSame(as: old.value) ? nil : value
        }
        let type = typeMember(in: members)
        // A value of another type has nothing in common with the one before.
        guard isTop || type?.value == typeMember(in: others)?.value else { return value }
        var changed = DynamicEntity()
        for (name, node) in members where !Self.typeNames.contains(name) {
            let before = others.first { $0.name == name }?.node
            if node.isRelation || before?.isRelation == true {
                guard let before, node.value.isSame(as: before.value) else { throw ODataWriteError.relationChanged(name) }
            } else if let before {
                changed[name] = try node.difference(from: before, isNested: isNested, isTop: false)
            } else {
                changed[name] = node.value
            }
        }
        let names = Set(members.map(\.name))
        for (name, node) in others where !names.contains(name) && !node.isRelation && !node.mayBeAbsent && Self.isProperty(name) {
            changed[name] = node.value.ofNothing
        }
        guard !changed.properties.isEmpty else { return nil }
        // A service takes a value of a derived type for one of the declared type where it isn't said.
        return .object(type.map { DynamicEntity([$0] + changed.properties) } ?? changed)
    }

    /// Whether it is GeoJSON, which is no complex value.
    private var isGeographic: Bool {
        switch content {
        case .value(.object(let object)): object.isGeographic
        case .object(let members): GeoJSONNames.are(Set(members.map(\.name)))
        default: false
        }
    }

    private func typeMember(in members: [(name: String, node: PayloadNode)]) -> DynamicEntity.Property? {
        guard let (name, node) = members.first(where: { Self.typeNames.contains($0.name) }) else { return nil }
        guard name == "__metadata" else { return DynamicEntity.Property(name, node.value) }
        return node.value["type"].map { DynamicEntity.Property(name, .object(["type": $0])) }
    }

    /// Whether it is a property's name, and not that of what the service said beside it.
    private static func isProperty(_ name: String) -> Bool {
        !name.contains("@") && !name.hasPrefix("#") && name != "__metadata" && !name.hasPrefix("odata.")
    }
}

extension ODataValue {
    /// What takes its place when it is removed: null, or no elements, as a collection is never null.
    var ofNothing: ODataValue {
        if case .array = self { .array([]) } else { .null }
    }

    /// Whether both are written alike. Texts are compared by their scalars: `==` takes two Unicode forms of a letter for the same.
    func isSame(as other: ODataValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.nesting.isCut == right.nesting.isCut && left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.nesting.isCut == right.nesting.isCut && left.properties.count == right.properties.count
                && zip(left.properties, right.properties).allSatisfy { $0.name == $1.name && $0.value.isSame(as: $1.value) }
        default: self == other
        }
    }
}
