extension URITemplate {
    /// The template with its values in place; a name the dictionary doesn't hold is undefined.
    ///
    /// - Throws: ``ExpansionError`` where a prefix is asked of a list or a map.
    public func expand(_ values: [String: Value]) throws -> String {
        try expand { values[$0] ?? .undefined }
    }

    /// The template with its values in place, each asked for by its name when it is needed.
    ///
    /// - Throws: ``ExpansionError`` where a prefix is asked of a list or a map, and what the closure throws.
    public func expand(_ value: (_ name: String) throws -> Value) throws -> String {
        try expand(value, noting: { _, _ in })
    }

    /// The same; `note` is told which bytes of the expansion each variable makes, its separator not counted.
    func expand(_ value: (_ name: String) throws -> Value, noting note: (_ name: String, _ bytes: Range<Int>) -> Void) throws -> String {
        var output: [UInt8] = []
        output.reserveCapacity(description.utf8.count + 64)
        for part in parts {
            switch part {
            case .literal(let bytes): output.append(contentsOf: bytes)
            case .expression(let kind, let variables):
                var isFirst = true
                for variable in variables {
                    let value = try value(variable.name)
                    if value.isUndefined { continue }
                    if !isFirst {
                        output.append(kind.separator)
                    } else if let first = kind.first {
                        output.append(first)
                    }
                    isFirst = false
                    let start = output.count
                    try append(value, for: variable, to: &output, as: kind)
                    note(variable.name, start..<output.count)
                }
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func append(_ value: Value, for variable: Variable, to output: inout [UInt8], as kind: Operator) throws {
        switch value {
        case .undefined: break
        case .string(let text):
            if kind.isNamed { Self.appendName(variable.name, beforeEmpty: text.isEmpty, to: &output, as: kind) }
            if case .prefix(let length) = variable.modifier {
                Self.append(Self.prefix(of: text, length: length, as: kind), to: &output, as: kind)
            } else {
                Self.append(text, to: &output, as: kind)
            }
        case .list(let members):
            try append(members.map { Pair(variable.name, $0) }, areNamed: false, for: variable, to: &output, as: kind)
        case .associative(let pairs):
            try append(pairs, areNamed: true, for: variable, to: &output, as: kind)
        }
    }

    /// A list or a map: RFC 6570 section 3.2.1, from "else if no explode modifier is given" on.
    private func append(_ pairs: [Pair], areNamed: Bool, for variable: Variable, to output: inout [UInt8], as kind: Operator) throws {
        if case .prefix = variable.modifier { throw ExpansionError(variable: variable.name, template: description) }
        let isExploded = variable.modifier == .explode
        if !isExploded, kind.isNamed { Self.appendName(variable.name, beforeEmpty: false, to: &output, as: kind) }
        var isFirst = true
        for pair in pairs {
            if !isFirst { output.append(isExploded ? kind.separator : UInt8(ascii: ",")) }
            isFirst = false
            if areNamed {
                // The RFC encodes exploded names like literals, which would let "a&b" add a pair. Encoding them like values reads the
                // same at the receiver and stays in its place.
                Self.append(pair.name, to: &output, as: kind)
                if !isExploded {
                    output.append(UInt8(ascii: ","))
                } else if !pair.value.isEmpty || kind.keepsEqualsSign {
                    output.append(UInt8(ascii: "="))
                }
            } else if isExploded, kind.isNamed {
                Self.appendName(pair.name, beforeEmpty: pair.value.isEmpty, to: &output, as: kind)
            }
            Self.append(pair.value, to: &output, as: kind)
        }
    }

    /// The variable's own name, which the parser has checked: nothing in it needs encoding.
    private static func appendName(_ name: String, beforeEmpty isEmpty: Bool, to output: inout [UInt8], as kind: Operator) {
        output.append(contentsOf: name.utf8)
        if !isEmpty || kind.keepsEqualsSign { output.append(UInt8(ascii: "=")) }
    }

    private static func append(_ text: String, to output: inout [UInt8], as kind: Operator) {
        if kind.allowsReserved {
            URLEncoding.appendRepaired(text, to: &output, allowing: reservedAlphabet)
        } else {
            URLEncoding.append(text, to: &output, allowing: .unreserved)
        }
    }
}
