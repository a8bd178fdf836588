import WebServiceClient

/// An entity without a declared Swift type: its properties by name, each present, null or absent.
///
/// Properties keep their order, which is the payload's if ``ODataDecoder`` reads it. Decoders that lose the order, such as Foundation's,
/// return them sorted by name, so that equal payloads give equal values.
public struct DynamicEntity: Sendable, Hashable {
    /// One property.
    public struct Property: Sendable, Hashable {
        /// The wire name, which may be that of control information such as `@odata.etag`.
        public var name: String
        /// The value.
        public var value: ODataValue

        /// Creates a property.
        public init(_ name: String, _ value: ODataValue) {
            self.name = name
            self.value = value
        }
    }

    /// The names of the properties, shared with other entities of the payload.
    private var shape = EntityNames()
    /// The values, by the positions of their names.
    private var values: [ODataValue] = []
    /// The nesting depth of the values. Values that nest too deeply are dropped, as in ``ODataValue/Elements``.
    private(set) var nesting = Nesting()

    /// Creates an entity from properties; for duplicate names, the last one wins.
    public init(_ properties: [Property] = []) {
        guard !properties.isEmpty else { return }
        values.reserveCapacity(properties.count)
        for property in properties { self[property.name] = property.value }
    }

    /// Creates an entity from unique names and as many values.
    init(_ names: EntityNames, _ values: [ODataValue]) {
        shape = names
        self.values = values
        nesting = Nesting(of: &self.values)
    }

    /// Creates the replacement for an entity that nests too deeply.
    init(cut: Void) {
        nesting = .cut
    }

    /// All properties, with unique names. Each access makes a new array.
    public var properties: [Property] {
        var properties: [Property] = []
        properties.reserveCapacity(values.count)
        for (position, value) in values.enumerated() { properties.append(Property(shape[position], value)) }
        return properties
    }

    /// The number of properties.
    package var count: Int { values.count }

    /// The names of the properties, in order.
    package var names: [String] { shape.list }

    /// Returns the name of the property at a valid position.
    package func name(at position: Int) -> String { shape[position] }

    /// Returns the value of the property at a valid position.
    package func value(at position: Int) -> ODataValue { values[position] }

    /// Returns the position of a property, or `nil` if it is absent.
    package func position(of name: String) -> Int? { shape.position(of: name) }

    /// Returns whether there is control information of a property or an annotation of it.
    func isAnnotated(_ name: String) -> Bool { shape.isAnnotated(name) }

    /// Adds a property unless its name exists, and returns whether it did.
    package mutating func append(_ name: String, _ value: ODataValue) -> Bool {
        guard position(of: name) == nil else { return false }
        add(name, value)
        return true
    }

    private mutating func add(_ name: String, _ value: ODataValue) {
        let value = value.bounded
        nesting.add(value.nesting)
        shape.append(name)
        values.append(value)
    }

    /// Recomputes the nesting if the removed value may have determined it.
    private mutating func forget(_ inner: Nesting) {
        guard inner.isCut || inner.height > 0 && inner.height + 1 == nesting.height else { return }
        nesting = Nesting()
        for value in values { nesting.add(value.nesting) }
    }

    /// Accesses a property: `nil` if it is absent, ``ODataValue/null`` if it is null. Setting `nil` removes it.
    public subscript(_ name: String) -> ODataValue? {
        get {
            position(of: name).map { values[$0] }
        }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?):
                let old = values[position].nesting
                values[position] = value.bounded
                nesting.add(values[position].nesting)
                forget(old)
            case (nil, let value?):
                add(name, value)
            case (let position?, nil):
                let old = values.remove(at: position).nesting
                shape.remove(at: position)
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
    /// Returns whether the properties are equal, in the same order.
    public static func == (left: DynamicEntity, right: DynamicEntity) -> Bool {
        left.values.count == right.values.count && left.nesting.isCut == right.nesting.isCut && left.shape == right.shape
            && left.values == right.values
    }

    /// Hashes the properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(shape)
        hasher.combine(values)
    }
}

extension DynamicEntity: ExpressibleByDictionaryLiteral {
    /// Creates an entity from a dictionary literal.
    public init(dictionaryLiteral elements: (String, ODataValue)...) {
        self.init(elements.map { Property($0, $1) })
    }
}

extension DynamicEntity: PropertySample {
    /// Returns an entity with one property, which suffices to distinguish samples.
    public static func propertySample(_ number: Int) -> DynamicEntity? {
        ["sample": .integer(Int64(number))]
    }
}

/// The metadata of a payload's entity or property (JSON Format, section 4.6): `@odata.etag`, `Trips@nextLink`.
///
/// 4.0 writes the prefix `odata.`, 4.01 allows omitting it, and V3's light format has it without the `@` on entities.
struct ControlInformation {
    let entity: DynamicEntity
    /// The annotated property; `nil` for the entity itself.
    var property: String?

    /// The suffixes of a property's control information, in both spellings; ``subscript(_:)`` supports only these for properties.
    static let propertySuffixes = [
        "type", "count", "nextLink", "navigationLink", "navigationLinkUrl", "mediaReadLink", "mediaEditLink", "mediaContentType",
        "mediaEtag", "mediaETag",
    ].flatMap { ["@odata." + $0, "@" + $0] }

    subscript(_ name: String) -> ODataValue? {
        let owner = property ?? ""
        if let value = entity[owner + "@odata." + name] ?? entity[owner + "@" + name] { return value }
        // Version 3's name.
        if name == "navigationLink", property != nil { return entity[owner + "@odata.navigationLinkUrl"] }
        return property == nil ? entity["odata." + name] : nil
    }

    /// Returns whether a name is a property's, not that of control information or an annotation.
    static func isProperty(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: "@")) && name.utf8.first != UInt8(ascii: "#") && name != "__metadata"
            && !name.utf8.starts(with: "odata.".utf8)
    }

    /// Returns the name of control information without its prefix; `nil` for annotations and properties.
    static func name(_ text: some StringProtocol) -> String? {
        // By bytes, because each property of a payload is asked.
        guard text.utf8.first == UInt8(ascii: "@") else {
            return text.utf8.starts(with: "odata.".utf8) ? String(text.dropFirst("odata.".count)) : nil
        }
        let rest = text.dropFirst()
        if rest.hasPrefix("odata.") { return String(rest.dropFirst("odata.".count)) }
        // Annotations have a namespace.
        return rest.contains(".") ? nil : String(rest)
    }

    /// Returns a type's name without the reference to its metadata: `Sales.Person` for `#Sales.Person` and
    /// `http://host/$metadata#Sales.Person`.
    static func typeName(_ text: String) -> String {
        guard let mark = text.lastIndex(of: "#") else { return text }
        return String(text[text.index(after: mark)...])
    }
}

/// The member names that identify GeoJSON (RFC 7946, section 3.1), which is a primitive value instead of a complex one.
enum GeoJSONNames {
    /// Returns whether an object with these member names is a shape.
    static func are(_ names: Set<String>) -> Bool {
        names.contains("type") && (names.contains("coordinates") || names.contains("geometries"))
    }
}

extension DynamicEntity {
    /// A Boolean value that indicates whether the entity is GeoJSON.
    var isGeographic: Bool { position(of: "type") != nil && GeoJSONNames.are(Set(names)) }
}
