import Foundation
import WebServiceClient

/// The place of an entry of a delta: the page's settings and the contexts around the entry.
struct DeltaPlace: Sendable {
    let settings: PayloadSettings
    /// The path of the page's set; `nil` if the context doesn't contain it.
    var pageSet: String?
    /// The contexts of the enclosing objects, outermost first.
    var contexts: [String] = []

    private func decoder(_ payload: DynamicEntity) -> PayloadDecoder {
        // The entry is read as a value inside of the page. This way its own context counts, and its only property isn't mistaken for a
        // result.
        var decoder = PayloadDecoder(.object(payload), at: .key(JSONKey("value"), in: .top), settings: settings)
        decoder.contexts = contexts
        return decoder
    }

    func decode<Value: Decodable>(_ type: Value.Type, from payload: DynamicEntity) throws -> Value {
        try decoder(payload).decode(type)
    }

    /// Returns the base of the relative links in an entry.
    func linkBase(of payload: DynamicEntity) -> LinkBase { decoder(payload).entering(payload).linkBase }

    /// Returns the place of the entries inside an entity.
    func inside(_ payload: DynamicEntity) -> DeltaPlace {
        var inner = self
        if let context = PageShape.context(of: payload) { inner.contexts.append(context) }
        inner.pageSet = nil
        return inner
    }

    /// The entity to which a to-one relation no longer leads.
    var removedEntity: RemovedEntity {
        RemovedEntity(
            id: nil, key: DynamicEntity(), reason: nil, when: nil, entitySet: nil, isOfQuery: false, others: DynamicEntity(),
            linkBase: LinkBase())
    }

    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [JSONKey("value")], debugDescription: text))
    }
}

/// The names in deltas that differ between versions.
enum DeltaNames {
    /// Returns the relation whose changes a member holds: `Orders` for `Orders@delta`.
    static func relation(ofDelta name: String) -> String? {
        for suffix in ["@delta", "@odata.delta"] where name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count {
            let relation = name.dropLast(suffix.count)
            if !relation.contains("@") { return String(relation) }
        }
        return nil
    }

    static func delta(of relation: String, in payload: DynamicEntity) -> ODataValue? {
        payload[relation + "@delta"] ?? payload[relation + "@odata.delta"]
    }

    /// Returns the object that marks an entity as removed (4.01). Null and false mark an entity that still exists.
    static func removal(in payload: DynamicEntity) -> ODataValue? {
        guard let mark = payload["@removed"] ?? payload["@odata.removed"], !mark.isNull, mark != .boolean(false) else { return nil }
        return mark
    }
}

extension DynamicEntity {
    /// The properties without control information, annotations and version 2's metadata.
    var plain: DynamicEntity {
        DynamicEntity(
            properties.filter {
                !$0.name.contains("@") && !$0.name.hasPrefix("#") && $0.name != "__metadata" && !$0.name.hasPrefix("odata.")
            })
    }
}

/// The part of a context URL that identifies the kind of an entry: `$metadata#Customers/$deletedEntity`.
struct DeltaContext {
    /// The path of the set; `nil` if the context has none.
    var entitySet: String?
    /// The last segment if it begins with `$`, such as `$deletedEntity`.
    var kind: String?

    init(_ context: String?) {
        guard let context, let mark = context.lastIndex(of: "#") else { return }
        var segments = Self.segments(of: context[context.index(after: mark)...])
        if let last = segments.last, last.hasPrefix("$") {
            kind = last
            segments.removeLast()
        }
        // A selection follows the set in parentheses. A derived type follows it as a segment.
        while let last = segments.last, !last.contains("("), last.contains(".") { segments.removeLast() }
        if let last = segments.last, last.hasSuffix(")"), let open = last.firstIndex(of: "(") {
            segments[segments.count - 1] = String(last[..<open])
        }
        let path = segments.joined(separator: "/")
        // In the context of a function's result, the type of the collection takes the place of the set.
        entitySet = path.isEmpty || path == "Collection" || path.hasPrefix("Collection(") ? nil : path
    }

    /// Splits at each `/` outside of parentheses and quotes.
    private static func segments(of text: Substring) -> [String] {
        var segments: [String] = []
        var (segment, depth, isQuoted) = ("", 0, false)
        for letter in text {
            if letter == "'" { isQuoted.toggle() }
            if !isQuoted { depth += letter == "(" ? 1 : letter == ")" ? -1 : 0 }
            if letter == "/", depth <= 0, !isQuoted {
                segments.append(segment)
                segment = ""
            } else {
                segment.append(letter)
            }
        }
        segments.append(segment)
        return segments.filter { !$0.isEmpty }
    }
}

/// One entry of a delta, in the spelling of any version and service.
struct DeltaEntry {
    enum Kind {
        case changed
        case removed(RemovedEntity)
        case linked(ChangedLink)
        case unlinked(ChangedLink)
    }

    let payload: DynamicEntity
    let kind: Kind
    let context: DeltaContext
    private let place: DeltaPlace
    private let isOfQuery: Bool

    /// Reads an entry.
    ///
    /// - Parameter isRelated: Whether it is an entry of a relation's changes, whose entities aren't of the query's set.
    /// - Throws: `DecodingError` if it isn't an object, or a link lacks its source or its relationship.
    init(_ value: ODataValue, at place: DeltaPlace, isRelated: Bool = false) throws {
        guard case .object(let object) = value else { throw place.corrupted("An entry of the changes is \(value.kind), not an object.") }
        payload = object
        self.place = place
        context = DeltaContext(PageShape.context(of: object))
        isOfQuery = !isRelated && (context.entitySet == nil || place.pageSet == nil || context.entitySet == place.pageSet)
        switch context.kind {
        case "$deletedEntity": kind = .removed(Self.deletedEntity(object, context, isOfQuery, place))
        case "$link": kind = .linked(try Self.link(object, context, isOfQuery, place))
        case "$deletedLink": kind = .unlinked(try Self.link(object, context, isOfQuery, place))
        default:
            if let removal = DeltaNames.removal(in: object) {
                kind = .removed(Self.removed(object, reason: removal["reason"]?.string, context, isOfQuery, place))
            } else if Self.isDeletedItem(object) {
                kind = .removed(Self.removed(object, reason: RemovalReason.deleted.rawValue, context, isOfQuery, place))
            } else {
                kind = .changed
            }
        }
    }

    func change<Entity>(isWhole: Bool) -> ODataChange<Entity> {
        switch kind {
        case .changed:
            .changed(
                ChangedEntity(
                    payload: payload, entitySet: context.entitySet ?? place.pageSet, isOfQuery: isOfQuery, isWhole: isWhole, place: place))
        case .removed(let entity): .removed(entity)
        case .linked(let link): .linked(link)
        case .unlinked(let link): .unlinked(link)
        }
    }

    /// Reads a deleted entity of 4.0 and of version 2, whose id is a plain member.
    private static func deletedEntity(
        _ object: DynamicEntity, _ context: DeltaContext, _ isOfQuery: Bool, _ place: DeltaPlace
    ) -> RemovedEntity {
        let control = ControlInformation(entity: object)
        var rest = object
        let reason = DeltaNames.removal(in: object)?["reason"]?.string ?? object["reason"]?.string
        let (id, when) = (object["id"].flatMap(text), object["when"])
        for name in ["id", "reason", "when"] { rest[name] = nil }
        return RemovedEntity(
            id: control["id"]?.string ?? id, key: rest.plain, reason: reason.map { RemovalReason(rawValue: $0) }, when: when,
            entitySet: context.entitySet, isOfQuery: isOfQuery, others: rest.control, linkBase: place.linkBase(of: object))
    }

    /// Reads a removed entity whose plain members are its properties.
    private static func removed(
        _ object: DynamicEntity, reason: String?, _ context: DeltaContext, _ isOfQuery: Bool, _ place: DeltaPlace
    ) -> RemovedEntity {
        let metadata = EntityMetadata(object)
        return RemovedEntity(
            id: metadata.id, key: object.plain, reason: reason.map { RemovalReason(rawValue: $0) }, when: nil,
            entitySet: context.entitySet ?? place.pageSet, isOfQuery: isOfQuery, others: object.control,
            linkBase: place.linkBase(of: object))
    }

    /// Returns whether an item is marked as deleted by its own properties: by the facet `deleted` of OneDrive, an object with at most a
    /// state, or by the change mode `D` of SAP's Operational Data Provisioning.
    private static func isDeletedItem(_ object: DynamicEntity) -> Bool {
        if case .object(let facet)? = object["deleted"] {
            return facet.plain.properties.allSatisfy { $0.name == "state" && $0.value.string != nil }
        }
        return object["ODQ_CHANGEMODE"]?.string == "D"
    }

    private static func link(
        _ object: DynamicEntity, _ context: DeltaContext, _ isOfQuery: Bool, _ place: DeltaPlace
    ) throws -> ChangedLink {
        guard let source = object["source"]?.string, let relationship = object["relationship"]?.string else {
            throw place.corrupted("A link in the changes lacks its source or its relationship.")
        }
        var isOfQuery = isOfQuery
        if context.entitySet == nil, let set = place.pageSet?.split(separator: "/").last, let own = EntityKeys.set(ofID: source) {
            isOfQuery = isOfQuery && own == set
        }
        return ChangedLink(
            source: source, relationship: relationship, target: object["target"]?.string, entitySet: context.entitySet,
            isOfQuery: isOfQuery, linkBase: place.linkBase(of: object))
    }

    /// Returns a key as text, which Dataverse sends in place of an id.
    private static func text(_ value: ODataValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

extension DynamicEntity {
    /// The control information and annotations.
    fileprivate var control: DynamicEntity { DynamicEntity(properties.filter { $0.name.contains("@") }) }
}
