import WebServiceClient

// Navigation properties and streams of items.
extension ODataItem {
    /// Returns the decoder of a property, which knows its control information.
    private func decoder(of name: String) -> PayloadDecoder {
        let value = record[name]
        var decoder = PayloadDecoder(value ?? .null, settings: .plain)
        decoder.parent = record
        decoder.name = name
        decoder.isPresent = value != nil
        return decoder
    }

    @usableFromInline func related<Target>(_ name: String) -> ToOne<ODataItem<Target>> {
        guard let value = record[name] else {
            return .notLoaded(link: ControlInformation(entity: record, property: name)["navigationLink"]?.string)
        }
        guard case .object(let object) = value else { return .null }
        if let link = PayloadDecoder.deferredLink(object) { return .notLoaded(link: link.isEmpty ? nil : link) }
        return .value(ODataItem<Target>(unchecked: object))
    }

    @usableFromInline func related<Target>(_ name: String) -> ToMany<ODataItem<Target>> {
        let decoder = decoder(of: name)
        var relation = ToMany<ODataItem<Target>>()
        relation.navigationLink = decoder.control["navigationLink"]?.string
        if let link = decoder.deferredLink {
            relation.navigationLink = link.isEmpty ? nil : link
        } else if decoder.isPresent, !decoder.value.isNull, let (values, count, nextLink) = try? decoder.collection() {
            relation.elements = values.compactMap { ODataItem<Target>(odata: $0) }
            relation.count = count
            relation.nextLink = nextLink
        } else {
            relation.count = decoder.control["count"]?.integer
            relation.nextLink = decoder.control["nextLink"]?.string
        }
        relation.linkBase = linkBase
        return relation
    }

    @usableFromInline func stream(_ name: String) -> EdmStream {
        var stream: EdmStream
        if let object = record[name]?.object?["__mediaresource"]?.object {
            stream = EdmStream(v2: object)
        } else {
            stream = EdmStream(ControlInformation(entity: record, property: name))
            stream.data = record[name].flatMap { EdmStream.inlineBytes($0, stream.contentType) }
        }
        stream.linkBase = linkBase
        return stream
    }

    /// The base of relative links that decoding couldn't resolve.
    private var linkBase: LinkBase {
        PageShape.context(of: record).map { LinkBase(root: ContextURL($0)) } ?? LinkBase()
    }

    @usableFromInline mutating func relate<Target>(_ relation: ToOne<ODataItem<Target>>, _ name: String) {
        switch relation {
        case .notLoaded: record[name] = nil
        case .null: record[name] = .null
        case .value(let entity): record[name] = .object(entity.record)
        }
    }

    @usableFromInline mutating func relate<Target>(_ relation: ToMany<ODataItem<Target>>, _ name: String) {
        record[name] = relation.elements.map { .array($0.map { .object($0.record) }) }
        // The payload's control information about the previous value doesn't apply to the new one.
        for control in ["count", "nextLink"] {
            for mark in ["@odata.", "@"] where record[name + mark + control] != nil { record[name + mark + control] = nil }
        }
        if let link = relation.nextLink { record[name + "@odata.nextLink"] = .string(link) }
        if let count = relation.count { record[name + "@odata.count"] = .integer(count) }
    }
}

/// The control information of an item's object.
enum ItemControl {
    /// The members that can contain the name of an object's type.
    static let typeNames: Set<String> = ["@odata.type", "@type", "odata.type", "__metadata"]

    /// Returns the name of an object's type: from `@odata.type`, `@type`, or version 2's `__metadata`.
    static func typeName(of object: DynamicEntity) -> String? {
        if let text = ControlInformation(entity: object)["type"]?.string { return ControlInformation.typeName(text) }
        return object["__metadata"]?["type"]?.string
    }

    /// Returns whether a member is a property, not control information, an annotation or an operation.
    static func isProperty(_ name: String) -> Bool {
        guard !name.utf8.contains(UInt8(ascii: "@")), name.utf8.first != UInt8(ascii: "#") else { return false }
        return name != "__metadata" && !name.utf8.starts(with: "odata.".utf8)
    }
}
