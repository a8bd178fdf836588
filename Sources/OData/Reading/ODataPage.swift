/// One page of a collection as the service sent it (JSON Format, section 4.5).
public struct ODataPage<Entity: Decodable & Sendable>: Sendable {
    /// The entities of this page.
    public var entities: [Entity]
    /// The number of all entities that match, where the request asked for it.
    public var count: Int64?
    /// The link to the next page as the service wrote it, `nil` on the last one. It is opaque: follow it, don't change it.
    public var nextLink: String?
    /// The link to later changes as the service wrote it, where there is one.
    public var deltaLink: String?
    /// The context URL as the service wrote it.
    public var context: String?

    /// A page.
    public init(
        entities: [Entity], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil, context: String? = nil
    ) {
        self.entities = entities
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
        self.context = context
    }
}

extension ODataPage: Decodable {
    private typealias Key = DynamicEntity.PropertyKey

    /// Reads a page in the shape of 4.0 or of 4.01, whose control information may come without `odata.`.
    ///
    /// - Throws: ``ODataErrorBody`` where there is an error instead of a page or behind it, as a service says that fails midway.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for name in ["error", "odata.error", "@odata.error"] where container.contains(Key(stringValue: name)) {
            if let error = try? ODataErrorBody(from: decoder) { throw error }
        }
        let value = Key(stringValue: "value")
        guard container.contains(value) else {
            let hint = container.contains(Key(stringValue: "d")) ? "it has the shape of OData 2 or 3" : "there is no 'value'"
            throw DecodingError.keyNotFound(
                value, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "No page of entities: \(hint)."))
        }
        func control<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
            try container.decodeIfPresent(type, forKey: Key(stringValue: "@odata." + name))
                ?? container.decodeIfPresent(type, forKey: Key(stringValue: "@" + name))
        }
        entities = try container.decode([Entity].self, forKey: value)
        // Services that were asked for IEEE754Compatible numbers write the count as a text.
        let number = try control(ODataValue.self, "count")
        count = number?.integer
        if let number, !number.isNull, count == nil {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "The page's count isn't a whole number."))
        }
        nextLink = try control(String.self, "nextLink")
        deltaLink = try control(String.self, "deltaLink")
        context = try control(String.self, "context")
    }
}
