/// An entity whose type isn't declared in Swift: its properties by name, each present, null or absent.
///
/// Properties keep the order they are given in. Decoders that don't keep the payload's order, as Foundation's doesn't, give them sorted
/// by name, so that the same payload always gives the same value.
public struct DynamicEntity: Sendable, Hashable {
    /// One property.
    public struct Property: Sendable, Hashable {
        /// The wire name; control information such as `@odata.etag` is among them.
        public var name: String
        /// The value.
        public var value: ODataValue

        /// A property.
        public init(_ name: String, _ value: ODataValue) {
            self.name = name
            self.value = value
        }
    }

    /// All properties, no name twice.
    public private(set) var properties: [Property] = []
    private var positions: [String: Int] = [:]

    /// An entity of properties; of those with the same name the last one counts.
    public init(_ properties: [Property] = []) {
        for property in properties { self[property.name] = property.value }
    }

    /// The value of a property: `nil` where it is absent, ``ODataValue/null`` where it is null. Setting `nil` removes it.
    public subscript(_ name: String) -> ODataValue? {
        get {
            positions[name].map { properties[$0].value }
        }
        set {
            switch (positions[name], newValue) {
            case (let position?, let value?):
                properties[position].value = value
            case (nil, let value?):
                positions[name] = properties.count
                properties.append(Property(name, value))
            case (let position?, nil):
                properties.remove(at: position)
                positions = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
            case (nil, nil):
                break
            }
        }
    }

    /// The entity without control information and annotations.
    public var withoutAnnotations: DynamicEntity {
        DynamicEntity(properties.filter { !$0.name.contains("@") })
    }
}

extension DynamicEntity: Codable {
    struct PropertyKey: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            return nil
        }
    }

    /// Reads all properties there are.
    public init(from decoder: any Decoder) throws {
        try self.init(from: try decoder.container(keyedBy: PropertyKey.self))
    }

    init(from container: KeyedDecodingContainer<PropertyKey>) throws {
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            self[key.stringValue] = try container.decode(ODataValue.self, forKey: key)
        }
    }

    /// Writes all properties.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PropertyKey.self)
        for property in properties { try container.encode(property.value, forKey: PropertyKey(stringValue: property.name)) }
    }
}

extension DynamicEntity: ExpressibleByDictionaryLiteral {
    /// An entity written as a dictionary.
    public init(dictionaryLiteral elements: (String, ODataValue)...) {
        self.init(elements.map { Property($0, $1) })
    }
}

extension DynamicEntity: PropertySample {
    /// Its properties have no names known in Swift, so one to tell samples apart will do.
    public static func propertySample(_ number: Int) -> DynamicEntity? {
        ["sample": .integer(Int64(number))]
    }
}
