import Foundation

/// Writes all literals, for operators, functions and keys (ABNF, "Literal Data Values").
struct LiteralWriter: Sendable {
    var version: ODataVersion
    var enumerations: EnumerationSpelling
    var v2Dates: V2DateSpelling

    func write(_ value: EdmValue, to text: inout QueryText) throws(ODataQueryError) {
        if version == .v2, try writeV2(value, to: &text) { return }
        switch value {
        case .null: text.syntax("null")
        case .boolean(let value): text.syntax(value ? "true" : "false")
        case .integer(let value), .int64(let value): text.number(value)
        case .decimal(let value): text.value(try NumberText.digits(value))
        case .number(let digits): text.value(try NumberText.checked(digits))
        case .double(let value): text.value(NumberText.floating(value))
        case .single(let value): text.value(NumberText.floating(value))
        case .string(let value): quoted(value, to: &text)
        case .guid(let value): text.value(value.uuidString.lowercased())
        case .dateTimeOffset(let value): text.value(try LiteralText.instant(value))
        case .timestamp(let value):
            guard value.offset != nil else {
                throw .unsupportedLiteral("'\(value)'", reason: "it lacks the offset from UTC that every Edm.DateTimeOffset has; add 'Z'")
            }
            text.value(value.description)
        case .date(let value): text.value(value.description)
        case .timeOfDay(let value):
            guard value != .endOfDay else {
                throw .unsupportedLiteral("'\(value)'", reason: "version 4 requires a time before 24:00")
            }
            text.value(value.description)
        case .duration(let value): prefixed("duration", LiteralText.duration(value), to: &text)
        case .binary(let value): prefixed("binary", LiteralText.base64URL(value), to: &text)
        case .enumeration(let type, let member): try enumeration(type, member, to: &text)
        case .spatial(let value): try SpatialWriter.write(value, to: &text)
        }
    }

    /// Writes a value with a V2-specific literal (OData 2.0, Overview, section 6), and returns whether it has one.
    private func writeV2(_ value: EdmValue, to text: inout QueryText) throws(ODataQueryError) -> Bool {
        switch value {
        case .null, .boolean, .string:
            return false
        case .integer(let value):
            text.number(value)
            if Int32(exactly: value) == nil { text.syntax("L") }
        case .int64(let value):
            text.number(value)
            text.syntax("L")
        case .decimal(let value):
            text.value(try NumberText.digits(value))
            text.syntax("M")
        case .number(let digits):
            let digits = try NumberText.checked(digits)
            text.value(digits)
            text.syntax(digits.utf8.contains(UInt8(ascii: "e")) ? "d" : "M")
        case .double(let value):
            text.value(try NumberText.finite(value))
            text.syntax("d")
        case .single(let value):
            text.value(try NumberText.finite(value))
            text.syntax("f")
        case .guid(let value):
            prefixed("guid", value.uuidString.lowercased(), to: &text)
        case .dateTimeOffset(let value):
            let instant = try LiteralText.instant(value)
            switch v2Dates {
            case .dateTime: prefixed("datetime", String(instant.dropLast()), to: &text)
            case .dateTimeOffset: prefixed("datetimeoffset", instant, to: &text)
            }
        case .timestamp(let value):
            prefixed(value.offset == nil ? "datetime" : "datetimeoffset", value.description, to: &text)
        case .date(let value):
            prefixed("datetime", value.description + "T00:00:00", to: &text)
        case .timeOfDay(let value):
            prefixed("time", value.v2Text, to: &text)
        case .duration(let value):
            prefixed("time", LiteralText.duration(value), to: &text)
        case .binary(let value):
            prefixed("X", value.map { DigitText.hexadecimal($0) }.joined(), to: &text)
        case .enumeration(_, let member):
            // V2 has no enumerations: Swift's are text there.
            quoted(member, to: &text)
        case .spatial:
            throw .unsupported("geography and geometry", version: version)
        }
        return true
    }

    private func quoted(_ value: String, to text: inout QueryText) {
        text.syntax("'")
        text.doubled(value)
        text.syntax("'")
    }

    private func prefixed(_ prefix: String, _ value: String, to text: inout QueryText) {
        text.syntax(prefix)
        text.syntax("'")
        text.value(value)
        text.syntax("'")
    }

    private func enumeration(_ type: String?, _ member: String, to text: inout QueryText) throws(ODataQueryError) {
        if let type, enumerations == .qualified {
            guard ODataName.isQualified(type) else { throw .invalidName(type, role: "the name of an enumeration's type") }
            text.value(type)
        }
        let members = member.split(separator: ",", omittingEmptySubsequences: false)
        text.syntax("'")
        for (index, part) in members.enumerated() {
            // Members read from some services have blanks after the commas.
            let name = part.trimmingCharacters(in: .whitespaces)
            // A member without a name is a number (ABNF, "singleEnumLiteral").
            guard ODataName.isIdentifier(name) || Int64(name) != nil else {
                throw .invalidName(member, role: "a member of an enumeration")
            }
            if index > 0 { text.syntax(",") }
            text.value(name)
        }
        text.syntax("'")
    }
}
