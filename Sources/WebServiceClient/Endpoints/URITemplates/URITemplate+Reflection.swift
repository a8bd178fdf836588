extension URITemplate.Value {
    /// The value of an argument: a text or number as a string, an array of such as a list, a structure or a dictionary as pairs, `nil` as
    /// undefined.
    ///
    /// - Throws: ``ReflectionError`` for a value that has no text, or is nested deeper than a template can say.
    init(reflecting argument: Any) throws {
        if let list = argument as? [Any] {
            self = .list(try list.compactMap { try ArgumentText.text(of: $0) })
        } else if Self.hasFields(argument) {
            let fields = try FieldReflection().fields(of: argument)
            self = .associative(fields.compactMap { field in field.value.map { URITemplate.Pair(field.name, $0) } })
        } else {
            self = try ArgumentText.text(of: argument).map { .string($0) } ?? .undefined
        }
    }

    /// Whether an argument is a structure or a dictionary whose fields count, not something with a text of its own.
    private static func hasFields(_ argument: Any) -> Bool {
        if argument is String || argument is any BinaryInteger || argument is any RawRepresentable { return false }
        let kind = Mirror(reflecting: argument).displayStyle
        guard kind == .struct || kind == .dictionary || kind == .class else { return false }
        return (try? ArgumentText.text(of: argument)) == nil
    }
}
