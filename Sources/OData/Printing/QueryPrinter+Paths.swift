extension QueryPrinter {
    private static let annotation = QueryText.Kept(others: [0x40])
    /// Words that stand for something else where they begin an expression; a property called so is reached from `$it`.
    private static let taken: Set<String> = ["null", "true", "false", "INF", "NaN", "not"]

    func write(_ path: QueryPath, in scope: PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        switch path.root {
        case .variable(let variable):
            text.syntax(try scope.name(of: variable))
            if !path.segments.isEmpty { text.syntax("/") }
        case .entity:
            guard let first = path.segments.first else {
                text.syntax("$it")
                return
            }
            if case .property(let name) = first, Self.taken.contains(name) { text.syntax("$it/") }
        }
        try writeSegments(path.segments, to: &text)
    }

    /// The path as `$select` and `$expand` take it, where no expression is.
    func writePlain(_ path: QueryPath, to text: inout QueryText) throws(ODataQueryError) {
        guard path.root == .entity, !path.segments.isEmpty else {
            throw .invalidOption("$select or $expand", reason: "a property is needed")
        }
        try writeSegments(path.segments, to: &text)
    }

    private func writeSegments(_ segments: [QueryPath.Segment], to text: inout QueryText) throws(ODataQueryError) {
        for (index, segment) in segments.enumerated() {
            if index > 0 { text.syntax("/") }
            switch segment {
            case .property(let name):
                guard ODataName.isProperty(name) else { throw .invalidName(name, role: "the name of a property") }
                text.value(name, keeping: name.utf8.first == 0x40 ? Self.annotation : nil)
            case .cast(let name):
                guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a type") }
                text.value(name)
            case .count:
                text.syntax("$count")
            case .unresolved(let error):
                throw error
            }
        }
    }
}
