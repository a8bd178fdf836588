extension QueryPrinter {
    /// What stands in the parentheses of a key.
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
            throw .unsupportedLiteral("\(value)", reason: "no key property has such a value")
        default: return
        }
    }

    /// A key that is a segment of its own has no quotes (URL Conventions, section 4.3.6).
    func writeKeySegment(_ value: EdmValue, to text: inout QueryText) throws(ODataQueryError) {
        try checkKey(value)
        switch value {
        case .string(let string):
            guard !["", ".", ".."].contains(string) else {
                throw .unsupportedLiteral(
                    "'\(string)'", reason: "a key that is a segment can't be empty, '.' or '..'; put it in parentheses")
            }
            text.value(string)
        case .duration(let value): text.value(LiteralWriter.duration(value))
        case .enumeration(_, let member): text.value(member)
        default: try literals.write(value, to: &text)
        }
    }

    func write(
        function name: String, _ parameters: [QueryPath.Parameter], isFirst: Bool, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard version != .v2 else {
            // A V2 service operation has its parameters in the query.
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
        if case .literal(let value) = parameter.value {
            try literals.write(value, to: &text)
        } else if case .path(let path) = parameter.value, case .alias(let name) = path.root, path.segments.isEmpty {
            try writeAlias(name, to: &text)
        } else {
            throw .invalidOption(
                "parameter '\(parameter.name)'",
                reason: "in a path only literals and aliases can stand; give an alias, and its value with alias(_:_:)")
        }
    }

    /// Raw text of a path: nothing that would end it.
    static func check(_ raw: String) throws(ODataQueryError) {
        guard !raw.isEmpty else { throw .invalidPath(raw, reason: "it is empty") }
        var isQuoted = false
        var outside = ""
        for character in raw {
            if character == "'" { isQuoted.toggle() }
            outside.append(isQuoted ? "x" : character)
        }
        guard !isQuoted else { throw .invalidPath(raw, reason: "a quote isn't closed") }
        if let wrong = outside.first(where: { "?#%&".contains($0) }) {
            throw .invalidPath(raw, reason: "'\(wrong)' doesn't belong there; give query options by methods, and text not percent-encoded")
        }
        for segment in outside.split(separator: "/", omittingEmptySubsequences: false) where ["", ".", ".."].contains(segment) {
            throw .invalidPath(raw, reason: segment.isEmpty ? "it has an empty segment" : "it has the segment '\(segment)'")
        }
    }
}
