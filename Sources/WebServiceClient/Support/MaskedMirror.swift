/// What values with secrets inside show of themselves.
enum MaskedMirror {
    /// A mirror's children on a line, as a structure is printed.
    static func text(of mirror: Mirror, type: String) -> String {
        let children = mirror.children.map { child in
            let value = ValueText.reflection(of: child.value).split(whereSeparator: \.isNewline).joined(separator: ", ")
            return (child.label.map { $0 + ": " } ?? "") + value
        }
        return "\(type)(\(children.joined(separator: ", ")))"
    }

    /// The name of a value's type; `nil` in words for none.
    static func typeName(of value: Any?) -> String {
        value.map { String(describing: type(of: $0)) } ?? "nil"
    }
}
