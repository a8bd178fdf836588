import WebServiceClient

// Geographic and geometric values in payloads: GeoJSON (RFC 7946; JSON Format, section 7.1), with the reference system as `crs`.
extension EdmSpatial: Codable {
    private enum Key: String, CodingKey {
        case type, coordinates, geometries, crs, properties, name
    }

    /// Returns the default reference system (CSDL, section 6.5): WGS 84 for geography, none for geometry.
    private static func defaultSRID(_ space: Space) -> Int { space == .geography ? 4326 : 0 }

    /// Decodes GeoJSON.
    ///
    /// GeoJSON doesn't distinguish geography from geometry. If control information doesn't either, reference system 0 is geometry, and all
    /// others are geography.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var srid: Int?
        if container.contains(.crs), try !container.decodeNil(forKey: .crs) {
            let crs = try container.nestedContainer(keyedBy: Key.self, forKey: .crs)
            let name = try crs.nestedContainer(keyedBy: Key.self, forKey: .properties).decode(String.self, forKey: .name)
            guard name.hasPrefix("EPSG:"), let number = DigitText.number(name.dropFirst(5)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .crs, in: container, debugDescription: "'\(name.prefix(60))' isn't a reference system such as EPSG:4326.")
            }
            srid = number
        }
        let declared = try PayloadDecoder.of(decoder)?.control["type"]?.string
        let isGeometry = declared.map { $0.contains("Geometry") } ?? (srid == 0)
        space = isGeometry ? .geometry : .geography
        self.srid = srid ?? Self.defaultSRID(space)
        shape = try Self.shape(container, depth: 0)
    }

    private static func shape(_ container: KeyedDecodingContainer<Key>, depth: Int) throws -> Shape {
        let type = try container.decode(String.self, forKey: .type)
        func coordinates<Value: Decodable>(_ value: Value.Type) throws -> Value { try container.decode(value, forKey: .coordinates) }
        switch type {
        case "Point": return .point(try coordinates(Position.self))
        case "LineString": return .line(try coordinates([Position].self))
        case "Polygon": return .polygon(try coordinates([[Position]].self))
        case "MultiPoint": return .points(try coordinates([Position].self))
        case "MultiLineString": return .lines(try coordinates([[Position]].self))
        case "MultiPolygon": return .polygons(try coordinates([[[Position]]].self))
        case "GeometryCollection":
            guard depth < QueryPrinter.depthLimit else {
                throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "The collections nest too deeply.")
            }
            var list = try container.nestedUnkeyedContainer(forKey: .geometries)
            var shapes: [Shape] = []
            while !list.isAtEnd { shapes.append(try shape(try list.nestedContainer(keyedBy: Key.self), depth: depth + 1)) }
            return .collection(shapes)
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "'\(type.prefix(60))' isn't a GeoJSON geometry type.")
        }
    }

    /// Encodes GeoJSON, with the reference system if it isn't the default one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try Self.write(shape, to: &container, depth: 0)
        guard srid != Self.defaultSRID(space) else { return }
        var crs = container.nestedContainer(keyedBy: Key.self, forKey: .crs)
        try crs.encode("name", forKey: .type)
        var properties = crs.nestedContainer(keyedBy: Key.self, forKey: .properties)
        try properties.encode("EPSG:\(srid)", forKey: .name)
    }

    private static func write(_ shape: Shape, to container: inout KeyedEncodingContainer<Key>, depth: Int) throws {
        func write(_ type: String, _ coordinates: some Encodable) throws {
            try container.encode(type, forKey: .type)
            try container.encode(coordinates, forKey: .coordinates)
        }
        switch shape {
        case .point(let position): try write("Point", position)
        case .line(let line): try write("LineString", line)
        case .polygon(let rings): try write("Polygon", rings)
        case .points(let points): try write("MultiPoint", points)
        case .lines(let lines): try write("MultiLineString", lines)
        case .polygons(let polygons): try write("MultiPolygon", polygons)
        case .collection(let shapes):
            guard depth < QueryPrinter.depthLimit, !shapes.nesting.isCut else {
                throw EncodingError.invalidValue(
                    shapes, .init(codingPath: container.codingPath, debugDescription: "The collections nest too deeply."))
            }
            try container.encode("GeometryCollection", forKey: .type)
            var list = container.nestedUnkeyedContainer(forKey: .geometries)
            for shape in shapes {
                var item = list.nestedContainer(keyedBy: Key.self)
                try Self.write(shape, to: &item, depth: depth + 1)
            }
        }
    }
}

/// Written as one value, because a change of coordinates isn't a change of a member.
extension EdmSpatial: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        let node = PayloadNode()
        try encode(to: PayloadEncoder(node: node, place: .top, settings: PayloadEncoder.Settings(format)))
        return node.value
    }
}

extension EdmSpatial.Position: Codable {
    /// Decodes two to four numbers.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var numbers: [Double] = []
        while !container.isAtEnd, numbers.count < 5 { numbers.append(try container.decode(Double.self)) }
        guard (2...4).contains(numbers.count) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "A position has two to four numbers.")
        }
        self.init(
            x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil, m: numbers.count > 3 ? numbers[3] : nil)
    }

    /// Encodes two to four numbers.
    ///
    /// - Throws: `EncodingError` for a measure without an altitude.
    public func encode(to encoder: any Encoder) throws {
        guard m == nil || z != nil else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "A position with a measure needs an altitude as well."))
        }
        var container = encoder.unkeyedContainer()
        for number in [x, y, z, m].compactMap(\.self) { try container.encode(number) }
    }
}

extension EdmSpatial: PropertySample {
    /// Returns a point that is different for each number.
    public static func propertySample(_ number: Int) -> EdmSpatial? {
        .point(longitude: Double(number), latitude: 0)
    }
}
