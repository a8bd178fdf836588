import OData

extension QueryReader {
    /// Reads a path with all its steps; a final `any` or `all` makes it a condition.
    mutating func path(allowsLoneCast: Bool = false, throughCollections: Bool = false) throws(QueryParsingError) -> QueryExpression {
        let start = index
        var state = PathState([.entity, .complex], names: names)
        var path = QueryPath(segments: [])
        path.root = try root()
        switch path.root {
        case .entity:
            if let lambda = try step(&path, &state, throughCollections: throughCollections) { return lambda }
        case .root:
            try expect("/")
            try service(&path, &state)
        case .it, .this, .alias, .variable:
            state.become(.values)
        case .these:
            state.become(.entityCollection)
        }
        while true {
            if isNext("("), case .property? = path.segments.last, state.isAny(of: .entityCollection) {
                path.segments.append(.key(try key()))
                state.become(.entity)
                continue
            }
            if isNext("("), case .filter? = path.segments.last, state.isAny(of: .entityCollection) {
                path.segments.append(.key(try key()))
                state.become(.entity)
                continue
            }
            guard isNext("/") else { break }
            index += 1
            try countOne()
            if let lambda = try step(&path, &state, throughCollections: throughCollections) { return lambda }
            if path.isFinished { break }
        }
        if !allowsLoneCast, path.root == .entity, path.segments.count == 1, case .cast = path.segments[0] {
            throw expected("'/' and a property after the type", at: max(start, index))
        }
        return .path(path)
    }

    private mutating func root() throws(QueryParsingError) -> QueryPath.Root {
        if isNext("@") {
            // `@Ns.Term` and `@Term#Qualifier` are annotations, `@name` is an alias.
            let start = index
            index += 1
            let name = try qualifiedName("the name of a parameter alias")
            if name.utf8.contains(UInt8(ascii: ".")) || isNext("#") {
                index = start
                return .entity
            }
            return .alias(name)
        }
        for (word, root) in [("$it", QueryPath.Root.it), ("$these", .these), ("$this", .this), ("$root", .root)]
        where isNext(word) && !isWordByte(at: index + word.utf8.count) {
            index += word.utf8.count
            return root
        }
        if let (_, variable) = variables.last(where: { $0.name == nextWord }), byteBehindWord != 0x28, byteBehindWord != 0x2E {
            index += nextWord.utf8.count
            return .variable(variable)
        }
        return .entity
    }

    /// Reads the part after `$root/`.
    private mutating func service(_ path: inout QueryPath, _ state: inout PathState) throws(QueryParsingError) {
        let start = index
        let name = try qualifiedName("an entity set, a singleton or a function")
        let roles = state.roles(of: name)
        if isNext("("),
            isFunctionNext(
                name, hasRole: !roles.importValues.isEmpty, knowsNames: state.knowsNames, isCollection: roles.contains(.entitySet))
        {
            path.segments.append(.function(name, try parameters()))
            state.become(roles.importValues)
            return
        }
        guard !roles.isDisjoint(with: [.entitySet, .singleton]) else {
            throw expected("an entity set, a singleton or a function", at: start)
        }
        path.segments.append(.property(name))
        state.become(roles.contains(.entitySet) ? .entityCollection : .entity)
    }

    /// Reads the first step of a path, or one after a `/`.
    private mutating func step(
        _ path: inout QueryPath, _ state: inout PathState, throughCollections: Bool
    ) throws(QueryParsingError) -> QueryExpression? {
        let start = index
        if isNext("$") {
            try collectionStep(&path, &state, throughCollections: throughCollections)
            return nil
        }
        if isNext("@") {
            path.segments.append(.property(try annotation()))
            state.become(.values)
            return nil
        }
        let word = nextWord.lowercased()
        if byteBehindWord == 0x28, !path.segments.isEmpty || path.root != .entity {
            if word == "any" || word == "all" { return try lambda(word == "any" ? .any : .all, over: path, state) }
            if word == "aggregate" {
                index += word.utf8.count + 1
                skipBlanks()
                path.segments.append(.aggregate(try aggregate(needsAlias: false)))
                skipBlanks()
                try expect(")")
                return nil
            }
        }
        let name = try qualifiedName("a property")
        let roles = state.roles(of: name)
        if isNext("("),
            isFunctionNext(
                name, hasRole: !roles.functionValues.isEmpty, knowsNames: state.knowsNames, isCollection: state.leadsToMany(name))
        {
            guard state.follow(function: name) else { throw expected("a function", at: start) }
            path.segments.append(.function(name, try parameters()))
            return nil
        }
        try follow(name, &path, &state, throughCollections: throughCollections, "a property", at: start)
        return nil
    }

    /// Appends a property or a type by its name.
    func follow(
        _ name: String, _ path: inout QueryPath, _ state: inout PathState, throughCollections: Bool, _ what: String, at start: Int
    ) throws(QueryParsingError) {
        switch state.follow(name: name, throughCollections: throughCollections) {
        case .property: path.segments.append(.property(name))
        case .cast: path.segments.append(.cast(name))
        case nil: throw expected(what, at: start)
        }
    }

    /// Reads `$count` or `$filter`.
    private mutating func collectionStep(
        _ path: inout QueryPath, _ state: inout PathState, throughCollections: Bool
    ) throws(QueryParsingError) {
        guard state.isAny(of: .collections) || throughCollections, !path.segments.isEmpty || path.root != .entity else {
            throw expected("a property")
        }
        if skip("$filter(") {
            skipBlanks()
            path.segments.append(.filter(try expression()))
            skipBlanks()
            try expect(")")
            return
        }
        guard skip("$count") else { throw expected("a property, $count or $filter") }
        guard skip("(") else {
            path.segments.append(.count)
            return
        }
        let options = try nestedOptions(.count)
        path.segments.append(.countWhere(options.filter, options.search))
    }
}

extension QueryPath {
    /// A Boolean value that indicates whether no step can follow.
    fileprivate var isFinished: Bool {
        switch segments.last {
        case .count, .countWhere, .aggregate: true
        default: false
        }
    }
}

/// The parts of paths other than names.
extension QueryReader {
    /// `@Ns.Term#Qualifier`.
    mutating func annotation() throws(QueryParsingError) -> String {
        let start = index
        try expect("@")
        _ = try qualifiedName("the name of an annotation")
        if skip("#") { _ = try name("a qualifier") }
        return try text(start..<index)
    }

    /// Returns whether parentheses contain a function's parameters instead of a key.
    ///
    /// - Parameter isCollection: Whether the model also knows a collection of that name, to which a key could belong.
    func isFunctionNext(_ name: String, hasRole: Bool, knowsNames: Bool, isCollection: Bool) -> Bool {
        var place = index + 1
        while place < bytes.count, bytes[place] == 0x20 { place += 1 }
        let isEmpty = place < bytes.count && bytes[place] == 0x29
        if knowsNames { return hasRole && (isEmpty || !isCollection) }
        if isEmpty { return true }
        // `Ns.Name(A=1)` is a function, `Set(A=1)` a key.
        var copy = self
        copy.index = place
        return name.utf8.contains(UInt8(ascii: ".")) && copy.isAtName && copy.byteBehindWord == 0x3D
    }

    /// Reads `(name=value,…)` of a function in an expression.
    mutating func parameters() throws(QueryParsingError) -> [QueryPath.Parameter] {
        try expect("(")
        skipBlanks()
        if skip(")") { return [] }
        let items = try list { reader throws(QueryParsingError) in
            let name = try reader.name("the name of a parameter")
            try reader.expect("=")
            return QueryPath.Parameter(name, try reader.expression())
        }
        skipBlanks()
        try expect(")")
        return items
    }

    mutating func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, _ state: PathState
    ) throws(QueryParsingError) -> QueryExpression {
        guard state.isAny(of: .collections) else { throw expected("a collection before any or all") }
        index += 4
        skipBlanks()
        if quantifier == .any, skip(")") { return .lambda(.any, path, LambdaVariable(number: 1), nil) }
        let variable = (name: try name("a variable"), variable: LambdaVariable.open())
        skipBlanks()
        try expect(":")
        skipBlanks()
        variables.append(variable)
        let body = try expression()
        variables.removeLast()
        skipBlanks()
        try expect(")")
        return .lambda(quantifier, over: path, variable: variable.variable, body: body)
    }
}

/// The steps that may follow in a path: the kinds of value reached so far, as far as the model defines them.
struct PathState {
    /// The kinds of value that the path may have reached; without a model, all of them.
    var values: NameRoles
    /// A Boolean value that indicates whether the last step was a cast, which another cast can't follow.
    var isCast = false
    private let names: ServiceNames?

    init(_ values: NameRoles, names: ServiceNames?) {
        self.values = names == nil ? .values : values
        self.names = names
    }

    /// Returns the roles of a name; without a model, all of them.
    func roles(of name: String) -> NameRoles {
        guard let names else { return NameRoles(rawValue: .max) }
        return names.roles(of: name.lastPart)
    }

    var knowsNames: Bool {
        names != nil
    }

    func isAny(of kinds: NameRoles) -> Bool {
        !values.isDisjoint(with: kinds)
    }

    mutating func become(_ kinds: NameRoles) {
        values = names == nil ? .values : kinds
        isCast = false
    }

    /// The kinds of names in a path.
    enum Kind {
        case property, cast
    }

    /// Resolves a name. A name with a namespace is a type. A name without one is a property if there is one, and otherwise a type, because
    /// 4.01 allows omitting the namespace.
    ///
    /// - Returns: The kind of the name, or `nil` if it isn't allowed here.
    mutating func follow(name: String, throughCollections: Bool = false) -> Kind? {
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        if !isQualified, follow(property: name, throughCollections: throughCollections) { return .property }
        return follow(cast: name) ? .cast : nil
    }

    /// Returns whether the name is a property that leads to many entities, so that a key in parentheses may follow.
    func leadsToMany(_ name: String) -> Bool {
        guard knowsNames, isAny(of: [.entity, .complex]), !name.utf8.contains(UInt8(ascii: ".")) else { return false }
        return roles(of: name).contains(.entityCollection)
    }

    /// Follows a property if possible, and returns whether it did.
    mutating func follow(property name: String, throughCollections: Bool = false) -> Bool {
        let owners: NameRoles = throughCollections ? [.entity, .complex, .entityCollection, .complexCollection] : [.entity, .complex]
        guard isAny(of: owners) else { return false }
        let kinds = name.hasPrefix("@") ? .values : roles(of: name).intersection(.values)
        guard !kinds.isEmpty else { return false }
        become(kinds)
        return true
    }

    /// Follows a cast if possible, and returns whether it did.
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

    /// Follows a bound function if possible, and returns whether it did.
    mutating func follow(function name: String) -> Bool {
        let kinds = roles(of: name).functionValues
        guard !kinds.isEmpty else { return false }
        become(kinds)
        return true
    }
}

extension String {
    /// The part after the last dot.
    var lastPart: String {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")) else { return self }
        return String(self[utf8.index(after: dot)...])
    }
}
