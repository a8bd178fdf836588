/// An entity whose type isn't declared in Swift: its properties by name, each present, null or absent.
///
/// Properties keep the order they are given in, which is the payload's where ``ODataDecoder`` reads it. Decoders that don't keep that order,
/// as Foundation's doesn't, give them sorted by name, so that the same payload always gives the same value.
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
    /// Where each property is, of an entity so large that searching for it would take longer.
    private var positions: [String: Int] = [:]
    /// How deep the values nest. Values that are too deep are left out, as in ``ODataValue/Elements``.
    private(set) var nesting = Nesting()

    private static let searchedCount = 12

    /// An entity of properties; of those with the same name the last one counts.
    public init(_ properties: [Property] = []) {
        self.properties.reserveCapacity(properties.count)
        for property in properties { self[property.name] = property.value }
    }

    /// What stands in place of an entity that is too deep.
    init(cut: Void) {
        nesting = .cut
    }

    /// Adds a property, if there is none of this name yet; whether there was none.
    mutating func append(_ name: String, _ value: ODataValue) -> Bool {
        guard position(of: name) == nil else { return false }
        add(name, value)
        return true
    }

    private mutating func add(_ name: String, _ value: ODataValue) {
        let value = value.bounded
        nesting.add(value.nesting)
        properties.append(Property(name, value))
        index()
    }

    /// Finds the nesting anew where a value is no more that it may have come from.
    private mutating func forget(_ inner: Nesting) {
        guard inner.isCut || inner.height > 0 && inner.height + 1 == nesting.height else { return }
        nesting = Nesting()
        for property in properties { nesting.add(property.value.nesting) }
    }

    private func position(of name: String) -> Int? {
        positions.isEmpty ? properties.firstIndex { $0.name == name } : positions[name]
    }

    /// Keeps the positions in step with a property that was added.
    private mutating func index() {
        guard properties.count > Self.searchedCount else { return }
        if positions.isEmpty {
            for (position, property) in properties.enumerated() { positions[property.name] = position }
        } else if let last = properties.last {
            positions[last.name] = properties.count - 1
        }
    }

    /// The value of a property: `nil` where it is absent, ``ODataValue/null`` where it is null. Setting `nil` removes it.
    public subscript(_ name: String) -> ODataValue? {
        get {
            position(of: name).map { properties[$0].value }
        }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?):
                let old = properties[position].value.nesting
                properties[position].value = value.bounded
                nesting.add(properties[position].value.nesting)
                forget(old)
            case (nil, let value?):
                add(name, value)
            case (let position?, nil):
                let old = properties.remove(at: position).value.nesting
                positions = [:]
                index()
                forget(old)
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

extension DynamicEntity {
    /// Whether the properties are the same, in the same order.
    public static func == (left: DynamicEntity, right: DynamicEntity) -> Bool {
        left.properties == right.properties && left.nesting.isCut == right.nesting.isCut
    }

    /// Hashes the properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(properties)
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

/// What GeoJSON is told by (RFC 7946, section 3.1): it is a primitive value, and no complex one.
enum GeoJSONNames {
    /// Whether an object with members of these names is a shape.
    static func are(_ names: Set<String>) -> Bool {
        names.contains("type") && (names.contains("coordinates") || names.contains("geometries"))
    }
}

extension DynamicEntity {
    /// Whether it is GeoJSON.
    var isGeographic: Bool { GeoJSONNames.are(Set(properties.map(\.name))) }
}
