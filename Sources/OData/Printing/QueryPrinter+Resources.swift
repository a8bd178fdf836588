extension QueryPrinter {
    /// A query as a URL relative to the service's root, percent-encoded as it goes over the wire.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func text(of query: ODataQuery) throws(ODataQueryError) -> String {
        var list = OptionList(separator: "&")
        try write(query.resource, to: &list.text)
        try checkPair(query)
        let path = list.text.count
        list.text.syntax("?")
        let start = list.text.count
        if version == .v2 { try writeV2Parameters(of: query.resource, to: &list) }
        try write(query.options, to: &list)
        if list.text.count == start { list.text.cut(to: path) }
        return list.text.text
    }

    /// The path of a resource, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func text(of resource: ResourcePath) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(resource, to: &text)
        return text.text
    }

    private func checkPair(_ query: ODataQuery) throws(ODataQueryError) {
        let isEntity = query.resource.segments.first == .entity
        if isEntity, query.options.entityID == nil { throw .invalidOption("$entity", reason: "it needs $id") }
        // Behind `$ref` it says which reference is meant (Protocol, section 11.4.6.2).
        if !isEntity, query.options.entityID != nil, query.resource.segments.last != .ref {
            throw .invalidOption("$id", reason: "it belongs to $entity, or behind $ref")
        }
    }

    private func write(_ resource: ResourcePath, to text: inout QueryText) throws(ODataQueryError) {
        guard !resource.segments.isEmpty else { throw .invalidPath("", reason: "it is empty") }
        let link = version == .v2 ? Self.linked(resource.segments) : nil
        if link == 0 { throw .unsupported("$ref of a whole entity set", version: version) }
        for (index, segment) in resource.segments.enumerated() {
            if index > 0, segment.isOwnStep, link == nil || segment != .ref { text.syntax("/") }
            if index == link { text.syntax("$links/") }
            try write(segment, isFirst: index == 0, isLinked: link != nil, to: &text)
        }
    }

    /// Where `$links` stands in V2: before the relation whose references are asked for.
    private static func linked(_ segments: [ResourcePath.Segment]) -> Int? {
        guard segments.last == .ref else { return nil }
        return segments.lastIndex { if case .name = $0 { true } else { false } }
    }

    private func write(
        _ segment: ResourcePath.Segment, isFirst: Bool, isLinked: Bool, to text: inout QueryText
    ) throws(ODataQueryError) {
        switch segment {
        case .raw(let raw):
            try Self.check(raw)
            text.raw(raw)
        case .name(let name):
            guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a resource") }
            text.value(name)
        case .cast(let name), .operation(let name):
            guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a type or an operation") }
            try require(.v4, "types and bound operations in paths")
            text.value(name)
        case .function(let name, let parameters):
            try write(function: name, parameters, isFirst: isFirst, to: &text)
        case .key(let parts):
            guard !isFirst else { throw .invalidPath("(…)", reason: "a key stands behind a collection") }
            text.syntax("(")
            try write(parts, to: &text)
            text.syntax(")")
        case .keySegment(let value):
            try require(.v4, "keys as segments")
            try writeKeySegment(value, to: &text)
        case .index(let index):
            try require(.v401, "the index of an element")
            text.number(index)
        case .filter(let condition):
            try require(.v401, "$filter in paths")
            text.syntax("$filter(")
            try write(condition, isNested: false, to: &text)
            text.syntax(")")
        case .each: try writeWord("$each", since: .v401, to: &text)
        case .count: text.syntax("$count")
        case .value: text.syntax("$value")
        case .ref: if !isLinked { try writeWord("$ref", since: .v4, to: &text) }
        case .query: try writeWord("$query", since: .v401, to: &text)
        case .allEntities: try writeWord("$all", since: .v4, to: &text)
        case .entity: try writeWord("$entity", since: .v4, to: &text)
        case .metadata: text.syntax("$metadata")
        case .batch: text.syntax("$batch")
        case .crossjoin(let names):
            try writeWord("$crossjoin", since: .v4, to: &text)
            guard !names.isEmpty else { throw .invalidPath("$crossjoin", reason: "it has no entity set") }
            text.syntax("(")
            try writeList(names, to: &text) { name, text throws(ODataQueryError) in
                guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of an entity set") }
                text.value(name)
            }
            text.syntax(")")
        case .invalid(let error):
            throw error
        }
    }

    private func writeWord(_ word: String, since: ODataVersion, to text: inout QueryText) throws(ODataQueryError) {
        try require(since, word)
        text.syntax(word)
    }
}
