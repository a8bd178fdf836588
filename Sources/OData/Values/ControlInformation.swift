/// What a payload says about an entity or a property beside its values (JSON Format, section 4.6): `@odata.etag`, `Trips@nextLink`.
///
/// 4.0 writes the prefix `odata.`, 4.01 may leave it out, and V3's light form has it without the `@` on entities.
struct ControlInformation {
    let entity: DynamicEntity
    /// The property it is about; `nil` for the entity itself.
    var property: String?

    /// What is looked for beside a property, in both spellings: ``subscript(_:)`` finds no other names there.
    static let propertySuffixes = [
        "type", "count", "nextLink", "navigationLink", "mediaReadLink", "mediaEditLink", "mediaContentType", "mediaEtag", "mediaETag",
    ].flatMap { ["@odata." + $0, "@" + $0] }

    subscript(_ name: String) -> ODataValue? {
        let owner = property ?? ""
        if let value = entity[owner + "@odata." + name] ?? entity[owner + "@" + name] { return value }
        return property == nil ? entity["odata." + name] : nil
    }

    /// The name of control information without its prefix; `nil` where a name is none, but an annotation's or a property's.
    static func name(_ text: some StringProtocol) -> String? {
        guard text.hasPrefix("@") else {
            return text.hasPrefix("odata.") ? String(text.dropFirst("odata.".count)) : nil
        }
        let rest = text.dropFirst()
        if rest.hasPrefix("odata.") { return String(rest.dropFirst("odata.".count)) }
        // Annotations have a namespace.
        return rest.contains(".") ? nil : String(rest)
    }

    /// A type's name without what leads to its metadata: `#Sales.Person` and `http://host/$metadata#Sales.Person` are `Sales.Person`.
    static func typeName(_ text: String) -> String {
        guard let mark = text.lastIndex(of: "#") else { return text }
        return String(text[text.index(after: mark)...])
    }
}
