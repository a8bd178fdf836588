import Foundation

extension QueryPrinter {
    func writeCall(
        _ name: String, _ arguments: [QueryExpression], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        var written = name
        var arguments = arguments
        if let known = CanonicalFunction.named(name) {
            guard known.arity.contains(arguments.count) else {
                let needed = known.arity.count == 1 ? "\(known.arity.lowerBound)" : "\(known.arity.lowerBound) to \(known.arity.upperBound)"
                throw .invalidOption("function \(name)", reason: "it takes \(needed) arguments, not \(arguments.count)")
            }
            try require(known.since, name)
            if version == .v2, name == "contains" {
                written = "substringof"
                arguments.reverse()
            }
        } else {
            guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a function") }
        }
        text.syntax(written)
        text.syntax("(")
        for (index, argument) in arguments.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(argument, in: &scope, to: &text)
        }
        text.syntax(")")
    }

    /// `cast` and `isof`.
    func writeTyped(
        _ name: String, _ operand: QueryExpression?, _ type: String, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard ODataName.isType(type) else { throw .invalidName(type, role: "the name of a type") }
        text.syntax(name)
        text.syntax("(")
        if let operand {
            try write(operand, in: &scope, to: &text)
            text.syntax(",")
        }
        // In V2 the type's name is a string.
        if version == .v2 { text.syntax("'") }
        text.value(type, keeping: QueryText.parentheses)
        text.syntax(version == .v2 ? "')" : ")")
    }

    func writeCase(
        _ branches: [QueryExpression.Branch], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        try require(.v401, "case")
        guard !branches.isEmpty else { throw .invalidOption("expression", reason: "case needs a condition") }
        text.syntax("case(")
        for (index, branch) in branches.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(branch.condition, in: &scope, to: &text)
            // `A gt 10:30` would end with a time of day.
            if text.endsWithDigit { text.syntax(" ") }
            text.syntax(":")
            try write(branch.value, in: &scope, to: &text)
        }
        text.syntax(")")
    }

    // MARK: JSON

    /// Collections and complex values; what isn't JSON in them is an expression.
    func writeJSON(_ expression: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        try require(.v4, "JSON")
        switch expression.kind {
        case .array(let items):
            text.value("[")
            for (index, item) in items.enumerated() {
                if index > 0 { text.syntax(",") }
                try writeItem(item, in: &scope, to: &text)
            }
            text.value("]")
        case .object(let members):
            text.value("{")
            for (index, member) in members.enumerated() {
                if index > 0 { text.syntax(",") }
                guard !member.name.isEmpty, !members[..<index].contains(where: { $0.name == member.name }) else {
                    throw .invalidOption("JSON object", reason: "the member '\(member.name)' has no name, or is there twice")
                }
                writeJSON(member.name, to: &text)
                text.syntax(":")
                try writeItem(member.value, in: &scope, to: &text)
            }
            text.value("}")
        default:
            try write(expression, in: &scope, to: &text)
        }
    }

    private func writeItem(_ item: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        guard case .literal(let value) = item.kind else {
            try write(item, in: &scope, to: &text)
            return
        }
        switch value {
        case .null, .boolean, .integer, .int64, .decimal, .number, .spatial:
            try literals.write(value, to: &text)
        case .double(let number) where number.isFinite:
            try literals.write(value, to: &text)
        case .single(let number) where number.isFinite:
            try literals.write(value, to: &text)
        case .double(let number):
            writeJSON(NumberText.floating(number), to: &text)
        case .single(let number):
            writeJSON(NumberText.floating(number), to: &text)
        case .string(let value):
            writeJSON(value, to: &text)
        case .guid(let value):
            writeJSON(value.uuidString.lowercased(), to: &text)
        case .dateTimeOffset(let value):
            writeJSON(try LiteralWriter.instant(value), to: &text)
        case .timestamp(let value):
            writeJSON(value.description, to: &text)
        case .date(let value):
            writeJSON(value.description, to: &text)
        case .timeOfDay(let value):
            writeJSON(value.description, to: &text)
        case .duration(let value):
            writeJSON(LiteralWriter.duration(value), to: &text)
        case .binary(let value):
            writeJSON(LiteralWriter.base64URL(value), to: &text)
        case .enumeration(_, let member):
            writeJSON(member, to: &text)
        }
    }

    private func writeJSON(_ string: String, to text: inout QueryText) {
        var escaped = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\u{0}"..<"\u{20}": escaped += "\\u00" + DigitText.hexadecimal(UInt8(scalar.value))
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        text.value(escaped + "\"")
    }
}
