/// The control information of an entity that is written as a whole.
///
/// An entity without a Swift type keeps the control information with which it was read. A service computes nearly all of it (JSON Format
/// 4.01, section 4.6), and some services refuse it in a request.
extension DynamicEntity {
    /// The entity without the control information that a service computes, at all levels.
    ///
    /// The types of entities and properties stay unchanged, because the declared type may be a base. So do bindings, annotations, and a
    /// reference to an existing entity: an object with its id and without properties (JSON Format 4.01, section 14).
    var withoutControl: DynamicEntity {
        guard hasControl else { return self }
        return written(isTop: true)
    }

    /// Whether anything has to be left out.
    fileprivate var hasControl: Bool {
        (0..<count).contains { position in
            let name = name(at: position)
            return name == "__metadata" || WrittenControl.isComputed(name) || value(at: position).hasControl
        }
    }

    /// Whether it is a reference to an existing entity.
    private var isReference: Bool {
        (self["@odata.id"] ?? self["@id"] ?? self["__metadata"]?["uri"]) != nil && !names.contains { ControlInformation.isProperty($0) }
    }

    /// Whether a name is that of the media type of a stream whose bytes are inside of the entity: they can't be read without it.
    private func isTypeOfInlineStream(_ name: String) -> Bool {
        guard let mark = name.firstIndex(of: "@"), ControlInformation.name(name[mark...]) == "mediaContentType" else { return false }
        let property = mark == name.startIndex ? "$value" : String(name[..<mark])
        return self[property].map { !$0.isNull } ?? false
    }

    fileprivate func written(isTop: Bool) -> DynamicEntity {
        guard isTop || !isReference else { return self }
        var written = DynamicEntity()
        for position in 0..<count {
            let name = name(at: position)
            if name == "__metadata" {
                // In version 2, the other members are the entity's links and version.
                if let type = value(at: position)["type"] { written[name] = .object(["type": type]) }
            } else if !WrittenControl.isComputed(name) || isTypeOfInlineStream(name) {
                written[name] = value(at: position).written
            }
        }
        return written
    }
}

extension ODataValue {
    /// Whether an entity in the value has control information to leave out.
    fileprivate var hasControl: Bool {
        switch self {
        case .object(let object): object.hasControl
        case .array(let elements): elements.contains { $0.hasControl }
        case .null, .boolean, .integer, .decimal, .string: false
        }
    }

    fileprivate var written: ODataValue {
        switch self {
        case .object(let object): .object(object.written(isTop: false))
        case .array(let elements): .array(elements.map(\.written))
        case .null, .boolean, .integer, .decimal, .string: self
        }
    }
}

/// The names of control information that a service computes.
private enum WrittenControl {
    /// Control information of entities and properties.
    private static let computed: Set<String> = [
        "context", "metadata", "metadataEtag", "etag", "id", "editLink", "readLink", "mediaReadLink", "mediaEditLink", "mediaContentType",
        "mediaEtag", "mediaETag", "navigationLink", "associationLink", "count", "nextLink", "deltaLink",
    ]

    /// Returns whether a name is that of control information which a service computes, or of an operation that it offers.
    static func isComputed(_ name: String) -> Bool {
        if name.utf8.first == UInt8(ascii: "#") { return true }
        let control =
            name.utf8.firstIndex(of: UInt8(ascii: "@")).map { ControlInformation.name(name[$0...]) } ?? ControlInformation.name(name)
        return control.map { computed.contains($0) } ?? false
    }
}
