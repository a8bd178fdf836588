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
        if case .literal(let value) = parameter.value.kind {
            try literals.write(value, to: &text)
        } else if case .path(let path) = parameter.value.kind, case .alias(let name) = path.root, path.segments.isEmpty {
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
        var segment: [UInt8] = []
        // One more `/`, so that the last segment is looked at as well.
        for byte in Array(raw.utf8) + [UInt8(ascii: "/")] {
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            switch byte {
            case _ where isQuoted:
                segment.append(UInt8(ascii: "x"))
            case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "&"):
                let wrong = Character(Unicode.Scalar(byte))
                throw .invalidPath(
                    raw, reason: "'\(wrong)' doesn't belong there; give query options by methods, and text not percent-encoded")
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
