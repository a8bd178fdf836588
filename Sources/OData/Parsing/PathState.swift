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
