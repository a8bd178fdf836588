/// What may follow in a path: what kinds of value have been reached, as far as a model tells.
struct PathState {
    /// The kinds of value that the path may have reached; without a model, all of them.
    var values: NameRoles
    /// Whether the last step was a cast: two of them make no sense.
    var isCast = false
    private let model: (any QueryModel)?

    init(_ values: NameRoles, model: (any QueryModel)?) {
        self.values = model == nil ? .values : values
        self.model = model
    }

    /// The roles of a name; without a model, all of them.
    func roles(of name: String) -> NameRoles {
        guard let model else { return NameRoles(rawValue: .max) }
        return model.roles(of: name.lastPart)
    }

    var knowsNames: Bool {
        model != nil
    }

    func isAny(of kinds: NameRoles) -> Bool {
        !values.isDisjoint(with: kinds)
    }

    mutating func become(_ kinds: NameRoles) {
        values = model == nil ? .values : kinds
        isCast = false
    }

    /// What a name in a path was followed as.
    enum Kind {
        case property, cast
    }

    /// Follows a name as what it stands for. A name with a namespace is a type. One without is a property where there is one to follow, and else
    /// the type, whose namespace may be left out in 4.01.
    ///
    /// - Returns: what the name is, or `nil` where nothing of that name can stand there.
    mutating func follow(name: String, throughCollections: Bool = false) -> Kind? {
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        if !isQualified, follow(property: name, throughCollections: throughCollections) { return .property }
        return follow(cast: name) ? .cast : nil
    }

    /// Whether the name is that of a property that leads to many entities, so that a key may follow it in parentheses.
    func leadsToMany(_ name: String) -> Bool {
        guard knowsNames, isAny(of: [.entity, .complex]), !name.utf8.contains(UInt8(ascii: ".")) else { return false }
        return roles(of: name).contains(.entityCollection)
    }

    /// Follows a property, where that is possible.
    mutating func follow(property name: String, throughCollections: Bool = false) -> Bool {
        let owners: NameRoles = throughCollections ? [.entity, .complex, .entityCollection, .complexCollection] : [.entity, .complex]
        guard isAny(of: owners) else { return false }
        let kinds = name.hasPrefix("@") ? .values : roles(of: name).intersection(.values)
        guard !kinds.isEmpty else { return false }
        become(kinds)
        return true
    }

    /// Follows a cast, where that is possible.
    mutating func follow(cast name: String) -> Bool {
        guard !isCast else { return false }
        let types = roles(of: name)
        var kinds: NameRoles = []
        if types.contains(.entityType) { kinds.formUnion([.entity, .entityCollection]) }
        if types.contains(.complexType) { kinds.formUnion([.complex, .complexCollection]) }
        guard isAny(of: kinds) else { return false }
        values.formIntersection(kinds)
        isCast = true
        return true
    }

    /// Follows a bound function, where that is possible.
    mutating func follow(function name: String) -> Bool {
        let kinds = roles(of: name).functionValues
        guard !kinds.isEmpty else { return false }
        become(kinds)
        return true
    }
}

extension String {
    /// What stands behind the last dot.
    var lastPart: String {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")) else { return self }
        return String(self[utf8.index(after: dot)...])
    }
}
