extension QueryReader {
    /// The path of a resource (ABNF, "resourcePath").
    mutating func resource() throws(QueryParsingError) -> ResourcePath {
        var path = ResourcePath(segments: [])
        var state = PathState(.values, model: model)
        var canGoOn = try firstSegment(&path, &state)
        var isLinked = false
        while !isAtEnd {
            if isNext("("), canGoOn, path.segments.last?.canHaveKey == true, state.isAny(of: .entityCollection) {
                path.segments.append(.key(try key()))
                state.become(.entity)
                continue
            }
            guard canGoOn else { throw expected("the end of the path") }
            guard isNext("/"), !isEncoded(at: index) else { throw expected("'/' or the end of the path") }
            index += 1
            try countOne()
            if version == .v2, !isLinked, skip("$links/") { isLinked = true }
            canGoOn = try segment(&path, &state)
        }
        return isLinked ? path.ref() : path
    }

    /// Whether anything may follow.
    private mutating func firstSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        for (word, segment) in [("$batch", ResourcePath.Segment.batch), ("$metadata", .metadata)] where skip(word) {
            path.segments = [segment]
            return false
        }
        if skip("$entity") {
            path.segments = [.entity]
            return try typeBehind(&path)
        }
        if skip("$all") {
            path.segments = [.allEntities]
            return try typeBehind(&path)
        }
        if skip("$crossjoin(") {
            let names = try list { reader throws(QueryParsingError) in try reader.name("the name of an entity set") }
            try expect(")")
            path.segments = [.crossjoin(names)]
            if skip("/$query") { path.segments.append(.query) }
            return false
        }
        let start = index
        let name = try name("the name of an entity set, singleton or operation")
        let roles = state.roles(of: name)
        if isNext("("), isFunctionNext(name, hasRole: !roles.importValues.isEmpty, knowsNames: state.knowsNames) {
            path.segments = [.function(name, try arguments())]
            state.become(roles.importValues)
            return true
        }
        path.segments = [.name(name)]
        if roles.contains(.entitySet) {
            state.become(.entityCollection)
        } else if roles.contains(.singleton) {
            state.become(.entity)
        } else if !roles.importValues.isEmpty {
            // Without parentheses its parameters are query options, and nothing but `$query` follows.
            if skip("/$query") { path.segments.append(.query) }
            return false
        } else {
            guard roles.contains(.actionImport) else { throw expected("the name of an entity set, singleton or operation", at: start) }
            return false
        }
        return true
    }

    private mutating func typeBehind(_ path: inout ResourcePath) throws(QueryParsingError) -> Bool {
        if skip("/") { path.segments.append(.cast(try qualifiedName("the name of a type"))) }
        return false
    }

    /// One segment behind a `/`: whether anything may follow.
    private mutating func segment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        let start = index
        if isNext("$"), !isEncoded(at: index) { return try systemSegment(&path, &state) }
        if let next = byte(), next == 0x2D || (0x30...0x39).contains(next) {
            return try numberSegment(&path, &state)
        }
        guard isAtName else { return try keySegment(&path, &state) }
        let name = try qualifiedName("a segment")
        let roles = state.roles(of: name)
        let isDotted = name.utf8.contains(UInt8(ascii: "."))
        if isNext("("), isFunctionNext(name, hasRole: !roles.functionValues.isEmpty, knowsNames: state.knowsNames) {
            guard state.follow(function: name) else { throw expected("a function", at: start) }
            path.segments.append(.function(name, try arguments()))
            return true
        }
        if state.knowsNames {
            if !isDotted, !roles.isDisjoint(with: .values), state.follow(property: name) {
                path.segments.append(.name(name))
                return true
            }
            if !roles.isDisjoint(with: .types) {
                guard state.follow(cast: name) else { throw expected("a segment that fits the type", at: start) }
                path.segments.append(.cast(name))
                return true
            }
            if roles.contains(.action) || !roles.functionValues.isEmpty {
                path.segments.append(.operation(name))
                if skip("/$query") { path.segments.append(.query) }
                return false
            }
            index = start
            return try keySegment(&path, &state)
        }
        if isDotted {
            guard state.follow(cast: name) else { throw expected("a property or a key", at: start) }
            path.segments.append(.cast(name))
        } else {
            _ = state.follow(property: name)
            path.segments.append(.name(name))
        }
        return true
    }

    private mutating func systemSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        if skip("$filter(") {
            guard state.isAny(of: .entityCollection) else { throw expected("a segment that fits the type") }
            skipBlanks()
            path.segments.append(.filter(try expression()))
            skipBlanks()
            try expect(")")
            state.isCast = false
            return true
        }
        let words: [(String, ResourcePath.Segment, NameRoles)] = [
            ("$count", .count, .collections), ("$value", .value, [.entity, .primitive]), ("$ref", .ref, [.entity, .entityCollection]),
            ("$each", .each, .entityCollection), ("$query", .query, NameRoles.values.subtracting(.stream)),
        ]
        for (word, segment, kinds) in words where isNext(word) {
            guard state.isAny(of: kinds) else { throw expected("a segment that fits the type") }
            index += word.utf8.count
            path.segments.append(segment)
            return segment == .each
        }
        throw expected("$count, $value, $ref, $each, $query or $filter(…)")
    }

    /// The index of an element, or a key.
    private mutating func numberSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        let isIndex = isNext("-") || (state.knowsNames && !state.isAny(of: .entityCollection))
        guard isIndex else { return try keySegment(&path, &state) }
        guard state.isAny(of: .collections) else { throw expected("a segment that fits the type") }
        let isNegative = skip("-")
        let number = try wholeNumber("the index of an element")
        path.segments.append(.index(isNegative ? -number : number))
        return false
    }

    private mutating func keySegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        guard state.isAny(of: .entityCollection) else { throw expected("a segment that fits the type") }
        let start = index
        while index < bytes.count, bytes[index] != 0x2F || isEncoded(at: index) {
            // A parenthesis would rather belong to a key or a function; what prints keys as segments encodes it.
            guard bytes[index] != 0x28 || isEncoded(at: index) else { throw expected("a segment", at: start) }
            index += 1
        }
        let text = try text(start..<index)
        guard !text.isEmpty else { throw expected("a segment") }
        let end = index
        index = start
        if let value = try? numberLike(), index == end {
            path.segments.append(.keySegment(value))
        } else {
            index = end
            path.segments.append(.keySegment(.string(text)))
        }
        state.become(.entity)
        return true
    }
}

extension ResourcePath.Segment {
    /// Whether a key in parentheses can stand behind it.
    fileprivate var canHaveKey: Bool {
        switch self {
        case .name, .cast, .filter, .function: true
        default: false
        }
    }
}
