extension QueryPrinter {
    /// Words with another meaning at the beginning of an expression; a property with such a name needs a path from the instance.
    private static let taken: Set<String> = ["null", "true", "false", "INF", "NaN", "not"]

    func write(_ path: QueryPath, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        switch path.root {
        case .entity:
            if let first = path.segments.first {
                guard case .property(let name) = first, Self.taken.contains(name) else {
                    try writeSegments(path.segments, in: &scope, to: &text)
                    return
                }
            }
            try writeInstance(isNested: scope.isNested, to: &text)
        case .it:
            try require(.v4, "$it")
            text.syntax("$it")
        case .this:
            guard case .function? = path.segments.first else {
                try require(.v401, "$this")
                text.syntax("$this")
                break
            }
            // 4.0 can't refer to the instance in nested options, so the function is written like an unbound one.
            guard version > .v2, !scope.isNested || version >= .v401 else {
                try writeSegments(path.segments, in: &scope, to: &text)
                return
            }
            try writeInstance(isNested: scope.isNested, to: &text)
        case .these:
            try require(.v4, "$these")
            text.syntax("$these")
        case .root:
            try require(.v4, "$root")
            guard !path.segments.isEmpty else {
                throw .invalidOption("expression", reason: "$root needs an entity set or singleton after it")
            }
            text.syntax("$root")
        case .alias(let name):
            try writeAlias(name, to: &text)
        case .variable(let variable):
            text.syntax(try scope.name(of: variable))
        }
        guard !path.segments.isEmpty else { return }
        text.syntax("/")
        try writeSegments(path.segments, in: &scope, to: &text)
    }

    /// Writes the instance that the option is evaluated on; in nested options `$it` would be a different one.
    private func writeInstance(isNested: Bool, to text: inout QueryText) throws(ODataQueryError) {
        try require(isNested ? .v401 : .v4, isNested ? "$this" : "$it")
        text.syntax(isNested ? "$this" : "$it")
    }

    func writeAlias(_ name: String, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a parameter alias") }
        try require(.v4, "parameter aliases")
        text.syntax("@")
        text.value(name)
    }

    /// Writes a path without expressions, as in `$select`, `$expand` and `$apply`.
    func writePlain(_ path: QueryPath, for option: String, to text: inout QueryText) throws(ODataQueryError) {
        guard path.root == .entity, !path.segments.isEmpty else { throw .invalidOption(option, reason: "a property is needed") }
        for (index, segment) in path.segments.enumerated() {
            if index > 0 { text.syntax("/") }
            guard try writeName(segment, to: &text) else {
                throw .invalidOption(option, reason: "its paths can contain only properties and types")
            }
        }
    }

    private func writeSegments(
        _ segments: [QueryPath.Segment], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        for (index, segment) in segments.enumerated() {
            if case .key(let parts) = segment {
                guard index > 0 else { throw .invalidOption("key", reason: "it must follow a collection") }
                text.syntax("(")
                try write(parts, to: &text)
                text.syntax(")")
                continue
            }
            if index > 0 { text.syntax("/") }
            if try writeName(segment, to: &text) { continue }
            try writeSegment(segment, in: &scope, to: &text)
        }
    }

    /// Writes the segment if it needs no expression, and returns whether it did.
    private func writeName(_ segment: QueryPath.Segment, to text: inout QueryText) throws(ODataQueryError) -> Bool {
        switch segment {
        case .property(let name):
            guard ODataName.isProperty(name) else { throw .invalidName(name, role: "the name of a property") }
            if name.utf8.first == UInt8(ascii: "@") {
                try require(.v401, "annotations in expressions")
                text.value(name, keeping: QueryText.annotation)
            } else {
                text.value(name)
            }
        case .cast(let name):
            guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a type") }
            try require(.v4, "type casts")
            text.value(name)
        case .count:
            try require(.v4, "$count in expressions")
            text.syntax("$count")
        case .all:
            text.syntax("*")
        case .operations(let namespace):
            guard ODataName.isQualified(namespace) else { throw .invalidName(namespace, role: "a namespace") }
            try require(.v4, "operations in $select")
            text.value(namespace)
            text.syntax(".*")
        case .ref:
            try require(.v4, "$ref in $expand")
            text.syntax("$ref")
        case .value:
            try require(.v401, "$value in $expand")
            text.syntax("$value")
        case .unresolved(let error):
            throw error
        case .countWhere, .filter, .key, .function, .aggregate:
            return false
        }
        return true
    }

    private func writeSegment(
        _ segment: QueryPath.Segment, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        switch segment {
        case .filter(let condition):
            try require(.v401, "$filter in paths")
            text.syntax("$filter(")
            try writeWithin(condition, in: &scope, to: &text)
            text.syntax(")")
        case .countWhere(let filter, let search):
            try require(.v401, "$count with options")
            guard filter != nil || search != nil else { throw .invalidOption("$count", reason: "its parentheses are empty") }
            text.syntax("$count(")
            if let filter {
                text.syntax("$filter=")
                try writeWithin(filter, in: &scope, to: &text)
            }
            if let search {
                text.syntax(filter == nil ? "$search=" : ";$search=")
                try write(search, to: &text)
            }
            text.syntax(")")
        case .function(let name, let parameters):
            try require(.v4, "functions of the service")
            try writeFunctionName(name, to: &text)
            text.syntax("(")
            for (index, parameter) in parameters.enumerated() {
                if index > 0 { text.syntax(",") }
                try writeParameterName(parameter.name, to: &text)
                try writeJSON(parameter.value, in: &scope, to: &text)
            }
            text.syntax(")")
        case .aggregate(let aggregate):
            try require(.v4, "aggregates in expressions")
            text.syntax("aggregate(")
            try write(aggregate, needsAlias: false, in: &scope, to: &text)
            text.syntax(")")
        case .property, .cast, .count, .all, .operations, .ref, .value, .unresolved, .key:
            return
        }
    }

    /// Writes a condition on the elements of a collection within the expression, where `$it` would be a different instance.
    private func writeWithin(
        _ condition: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        let isNested = scope.isNested
        scope.isNested = true
        try write(condition, in: &scope, to: &text)
        scope.isNested = isNested
    }

    func writeFunctionName(_ name: String, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a function") }
        text.value(name)
    }

    func writeParameterName(_ name: String, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a parameter") }
        text.value(name)
        text.syntax("=")
    }
}

extension QueryPrinter {
    /// Writes the contents of a key's parentheses.
    func write(_ key: [ResourcePath.KeyPart], to text: inout QueryText) throws(ODataQueryError) {
        guard !key.isEmpty else { throw .invalidOption("key", reason: "it has no value") }
        for (index, part) in key.enumerated() {
            if index > 0 { text.syntax(",") }
            if let name = part.name {
                guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a key property") }
                text.value(name)
                text.syntax("=")
            } else if key.count > 1 {
                throw .invalidOption("key", reason: "each value of a key of several properties needs its property's name")
            }
            switch part.value {
            case .alias(let name):
                try writeAlias(name, to: &text)
            case .literal(let value):
                try checkKey(value)
                try literals.write(value, to: &text)
            }
        }
    }

    private func checkKey(_ value: EdmValue) throws(ODataQueryError) {
        switch value {
        case .binary where version == .v2, .double where version == .v2, .single where version == .v2: return
        case .null, .double, .single, .binary, .spatial:
            throw .unsupportedLiteral("\(value)", reason: "key properties can't have such a value")
        default: return
        }
    }

    /// Writes a key as a segment, without quotes (URL Conventions, section 4.3.6).
    package func writeKeySegment(_ value: EdmValue, to text: inout QueryText) throws(ODataQueryError) {
        try checkKey(value)
        switch value {
        case .string(let string):
            guard !["", ".", ".."].contains(string) else {
                throw .unsupportedLiteral(
                    "'\(string)'", reason: "a key that is a segment can't be empty, '.' or '..'; put it in parentheses")
            }
            text.value(string)
        case .duration(let value): text.value(LiteralText.duration(value))
        case .enumeration(_, let member): text.value(member)
        default: try literals.write(value, to: &text)
        }
    }

    func write(
        function name: String, _ parameters: [QueryPath.Parameter], isFirst: Bool, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard version != .v2 else {
            // A V2 service operation takes its parameters in the query.
            guard isFirst, ODataName.isIdentifier(name) else { throw .unsupported("bound functions", version: version) }
            text.value(name)
            return
        }
        try writeFunctionName(name, to: &text)
        text.syntax("(")
        try writeList(parameters, to: &text) { parameter, text throws(ODataQueryError) in
            try writeParameterName(parameter.name, to: &text)
            try writeArgument(parameter, to: &text)
        }
        text.syntax(")")
    }

    func writeV2Parameters(of resource: ResourcePath, to list: inout OptionList) throws(ODataQueryError) {
        guard case .function(_, let parameters)? = resource.segments.first else { return }
        for parameter in parameters {
            list.begin("")
            try writeParameterName(parameter.name, to: &list.text)
            try writeArgument(parameter, to: &list.text)
        }
    }

    private func writeArgument(_ parameter: QueryPath.Parameter, to text: inout QueryText) throws(ODataQueryError) {
        if case .literal(let value) = parameter.value.kind {
            try literals.write(value, to: &text)
        } else if case .path(let path) = parameter.value.kind, case .alias(let name) = path.root, path.segments.isEmpty {
            try writeAlias(name, to: &text)
        } else {
            throw .invalidOption(
                "parameter '\(parameter.name)'",
                reason: "only literals and aliases are allowed in a path; pass an alias and define it with alias(_:_:)")
        }
    }

    /// Checks that raw text of a path contains nothing that would end the path.
    package static func check(_ raw: String) throws(ODataQueryError) {
        guard !raw.isEmpty else { throw .invalidPath(raw, reason: "it is empty") }
        var isQuoted = false
        var segment: [UInt8] = []
        // The extra `/` makes the loop check the last segment, too.
        for byte in Array(raw.utf8) + [UInt8(ascii: "/")] {
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            switch byte {
            case _ where isQuoted:
                segment.append(UInt8(ascii: "x"))
            case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "&"):
                let wrong = Character(Unicode.Scalar(byte))
                throw .invalidPath(
                    raw, reason: "'\(wrong)' isn't allowed; set query options with methods, and don't percent-encode the path")
            case UInt8(ascii: "/"):
                switch segment {
                case []: throw .invalidPath(raw, reason: "it has an empty segment")
                case [0x2E], [0x2E, 0x2E]:
                    throw .invalidPath(raw, reason: "it has the segment '\(String(decoding: segment, as: UTF8.self))'")
                default: segment.removeAll(keepingCapacity: true)
                }
            default:
                segment.append(byte)
            }
        }
        guard !isQuoted else { throw .invalidPath(raw, reason: "a quote isn't closed") }
    }
}
