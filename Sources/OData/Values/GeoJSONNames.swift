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
