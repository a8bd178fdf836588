extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields line by line, the values of those that carry secrets replaced by `<masked>`.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }

    /// The fields line by line as they are, where they were masked before.
    var unmaskedDescription: String {
        map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields by their names: not even a dump shows secrets, of these or of what holds them.
    public var customMirror: Mirror {
        Mirror(self, children: map { (label: $0.name.rawName, value: SecretMask.text(of: $0)) })
    }
}

extension HTTPFields.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, a secret one replaced by `<masked>`.
    public var description: String { VisibleText.of("\(name): \(SecretMask.text(of: self))") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Name and value, a secret one masked as in ``description``.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.rawName, "value": SecretMask.text(of: self)])
    }
}
