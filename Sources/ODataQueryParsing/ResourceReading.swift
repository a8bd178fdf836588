import Foundation
import OData

extension QueryReader {
    /// Reads the path of a resource (ABNF, "resourcePath").
    mutating func resource() throws(QueryParsingError) -> ResourcePath {
        var path = ResourcePath(segments: [])
        var state = PathState(.values, names: names)
        var canGoOn = try firstSegment(&path, &state)
        var isLinked = false
        while !isAtEnd {
            if isNext("("), canGoOn, path.segments.last?.canHaveKey == true, state.isAny(of: .entityCollection) {
                if let function = functionWithoutModel(path) {
                    path.segments[path.segments.count - 1] = function
                } else {
                    path.segments.append(.key(try key()))
                    state.become(.entity)
                }
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

    /// Without a model, returns the path's last name as a function if the text in parentheses can't be a key: `Top(n=null)`,
    /// `Top(n=1.5e3)`, and `Top(n=5)(7)`, where a key follows.
    private mutating func functionWithoutModel(_ path: ResourcePath) -> ResourcePath.Segment? {
        guard names == nil, version > .v2, case .name(let name)? = path.segments.last else { return nil }
        var reader = self
        if let key = try? reader.key(), !key.contains(where: \.isDouble), !reader.isNext("(") { return nil }
        reader = self
        guard let parameters = try? reader.arguments() else { return nil }
        self = reader
        return .function(name, parameters)
    }

    /// Reads the first segment, and returns whether another segment may follow.
    private mutating func firstSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        for (word, segment) in [("$batch", ResourcePath.Segment.batch), ("$metadata", .metadata)] where skip(word) {
            path.segments = [segment]
            return false
        }
        if skip("$entity") {
            path.segments = [.entity]
            return try typeBehind(&path, state)
        }
        if skip("$all") {
            path.segments = [.allEntities]
            return try typeBehind(&path, state)
        }
        if skip("$crossjoin(") {
            let names = try list { reader throws(QueryParsingError) in
                let start = reader.index
                let name = try reader.name("the name of an entity set")
                guard state.roles(of: name).contains(.entitySet) else { throw reader.expected("the name of an entity set", at: start) }
                return name
            }
            try expect(")")
            path.segments = [.crossjoin(names)]
            if skip("/$query") { path.segments.append(.query) }
            return false
        }
        let start = index
        let name = try qualifiedName("the name of an entity set, singleton or operation")
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        if isQualified, skip("/$all") {
            // The syntax of version 4.0 for all entities of a container.
            path.segments = [.raw(name), .allEntities]
            return try typeBehind(&path, state)
        }
        // V2 allows the container's name before a set's: `Ns.Container.People`.
        guard !isQualified || version == .v2 else { throw expected("the name of an entity set, singleton or operation", at: start) }
        let roles = state.roles(of: name)
        if isNext("("), version != .v2 || byte(1) == 0x29,
            isFunctionNext(
                name, hasRole: !roles.importValues.isEmpty, knowsNames: state.knowsNames, isCollection: roles.contains(.entitySet))
        {
            path.segments = [.function(name, try arguments())]
            state.become(roles.importValues)
            return true
        }
        path.segments = [isQualified ? .raw(name) : .name(name)]
        if roles.contains(.entitySet) {
            state.become(.entityCollection)
        } else if roles.contains(.singleton) {
            state.become(.entity)
        } else if !roles.importValues.isEmpty, version == .v2 {
            // The parameters of a V2 function import are query options, and the path may continue after the function's result.
            state.become(roles.importValues)
        } else if !roles.importValues.isEmpty {
            // The parameters of a function import without parentheses are query options, and only `$query` may follow.
            if skip("/$query") { path.segments.append(.query) }
            return false
        } else {
            guard roles.contains(.actionImport) else { throw expected("the name of an entity set, singleton or operation", at: start) }
            return false
        }
        return true
    }

    private mutating func typeBehind(_ path: inout ResourcePath, _ state: PathState) throws(QueryParsingError) -> Bool {
        guard skip("/") else { return false }
        let start = index
        let name = try qualifiedName("the name of a type")
        guard state.roles(of: name).contains(.entityType) else { throw expected("the name of an entity type", at: start) }
        path.segments.append(.cast(name))
        return false
    }

    /// Reads one segment after a `/`, and returns whether another segment may follow.
    private mutating func segment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        let start = index
        if isNext("$"), !isEncoded(at: index) { return try systemSegment(&path, &state) }
        guard isAtName, let name = try? qualifiedName("a segment"), isEndOfName(path, state) else {
            index = start
            return try valueSegment(&path, &state)
        }
        let roles = state.roles(of: name)
        let isDotted = name.utf8.contains(UInt8(ascii: "."))
        if isNext("("),
            isFunctionNext(
                name, hasRole: !roles.functionValues.isEmpty, knowsNames: state.knowsNames, isCollection: state.leadsToMany(name))
        {
            guard state.follow(function: name) else { throw expected("a function", at: start) }
            path.segments.append(.function(name, try arguments()))
            return true
        }
        if state.knowsNames {
            switch state.follow(name: name) {
            case .property:
                path.segments.append(.name(name))
                return true
            case .cast:
                path.segments.append(.cast(name))
                return true
            case nil: break
            }
            if roles.contains(.action) || !roles.functionValues.isEmpty {
                path.segments.append(.operation(name))
                if skip("/$query") { path.segments.append(.query) }
                return false
            }
            guard roles.isDisjoint(with: .types) else { throw expected("a segment that the preceding segment's type allows", at: start) }
            index = start
            return try keySegment(&path, &state)
        }
        if isDotted {
            if !state.follow(cast: name) {
                // A cast can't follow a cast, so the previous one was a key: `People/ada.lovelace/Ns.Employee`.
                guard path.segments.count > 1, case .cast(let key)? = path.segments.last else {
                    throw expected("a property or a key", at: start)
                }
                if case .key = path.segments[path.segments.count - 2] { throw expected("a property or a key", at: start) }
                path.segments[path.segments.count - 1] = .keySegment(.string(key))
                state.become(.entity)
                _ = state.follow(cast: name)
            }
            path.segments.append(.cast(name))
        } else {
            _ = state.follow(property: name)
            path.segments.append(.name(name))
        }
        return true
    }

    /// Returns whether the name is the whole segment, and not the beginning of a key such as `ada-lovelace`.
    private func isEndOfName(_ path: ResourcePath, _ state: PathState) -> Bool {
        guard let next = byte() else { return true }
        if next == 0x2F { return !isEncoded(at: index) }
        guard next == 0x28 else { return false }
        // An encoded parenthesis may belong to a key segment after a collection.
        guard !state.knowsNames, isEncoded(at: index) else { return true }
        return path.segments.last?.canHaveKey != true
    }

    private mutating func systemSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        if skip("$filter(") {
            guard state.isAny(of: .entityCollection) else { throw expected("a segment that the preceding segment's type allows") }
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
            guard state.isAny(of: kinds) else { throw expected("a segment that the preceding segment's type allows") }
            index += word.utf8.count
            path.segments.append(segment)
            return segment == .each
        }
        throw expected("$count, $value, $ref, $each, $query or $filter(…)")
    }

    /// Reads a segment that is the index of an element or a key.
    private mutating func valueSegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        var end = index
        while end < bytes.count, bytes[end] != 0x2F || isEncoded(at: end) { end += 1 }
        let digits = bytes[(isNext("-") ? index + 1 : index)..<end]
        let isNumber = !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        // Entities are addressed by key; other values by index, since version 4.01. Without a model, a negative number at the end is an
        // index.
        let isIndex = version > .v4 && (state.knowsNames ? !takesKey(path, state) : isNext("-") && end == bytes.count)
        guard isNumber, isIndex else { return try keySegment(&path, &state) }
        guard state.isAny(of: .collections) else { throw expected("a segment that the preceding segment's type allows") }
        let isNegative = skip("-")
        let number = try wholeNumber("the index of an element")
        path.segments.append(.index(isNegative ? -number : number))
        return false
    }

    /// Returns whether a key segment is allowed after the path: after a collection of entities, or after another key segment, because each
    /// property of a compound key has its own segment (URL Conventions, section 4.3.6).
    private func takesKey(_ path: ResourcePath, _ state: PathState) -> Bool {
        guard version > .v2 else { return false }
        if case .keySegment? = path.segments.last { return true }
        return state.isAny(of: .entityCollection)
    }

    private mutating func keySegment(_ path: inout ResourcePath, _ state: inout PathState) throws(QueryParsingError) -> Bool {
        guard takesKey(path, state) else { throw expected("a segment that the preceding segment's type allows") }
        let start = index
        while index < bytes.count, bytes[index] != 0x2F || isEncoded(at: index) {
            // An unencoded parenthesis begins a key or the parameters of a function; in a key segment it must be encoded.
            guard bytes[index] != 0x28 || isEncoded(at: index) else { throw expected("a segment", at: start) }
            index += 1
        }
        let text = try text(start..<index)
        guard !text.isEmpty else { throw expected("a segment") }
        let end = index
        index = start
        if let value = try? numberLike(), index == end, Self.isKeySegment(value, text) {
            path.segments.append(.keySegment(value))
        } else {
            index = end
            path.segments.append(.keySegment(.string(text)))
        }
        state.become(.entity)
        return true
    }

    /// Returns whether printing the value gives the same text. It doesn't for `007` and `+7`, which are therefore read as strings.
    private static func isKeySegment(_ value: EdmValue, _ text: String) -> Bool {
        var written = QueryText()
        guard (try? QueryPrinter(version: .v401).writeKeySegment(value, to: &written)) != nil else { return false }
        return written.text.removingPercentEncoding == text
    }
}

extension ResourcePath.KeyPart {
    /// A Boolean value that indicates whether the value is a floating-point number, which key properties can't be (CSDL 4.01, section 6.5).
    fileprivate var isDouble: Bool {
        if case .literal(.double) = value { true } else { false }
    }
}

extension ResourcePath.Segment {
    /// A Boolean value that indicates whether a key in parentheses can follow.
    fileprivate var canHaveKey: Bool {
        switch self {
        case .raw, .name, .cast, .filter, .function: true
        default: false
        }
    }
}
