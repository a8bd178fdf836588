extension QueryReader {
    /// A path with all that may be in it; an `any` or `all` at its end makes it a condition.
    mutating func path(allowsLoneCast: Bool = false, throughCollections: Bool = false) throws(QueryParsingError) -> QueryExpression {
        let start = index
        var state = PathState([.entity, .complex], model: model)
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
            throw expected("'/' and a property behind the type", at: max(start, index))
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

    /// What stands behind `$root/`.
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

    /// One step behind a `/`, or the first of a path.
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

    /// `$count` and `$filter`.
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
    /// Whether nothing can follow.
    fileprivate var isFinished: Bool {
        switch segments.last {
        case .count, .countWhere, .aggregate: true
        default: false
        }
    }
}
