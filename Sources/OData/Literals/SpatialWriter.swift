/// Writes geographic and geometric literals: `geography'SRID=4326;Point(7.1 50.7)'` (ABNF, "Literal Data Values").
enum SpatialWriter {
    static func write(_ value: EdmSpatial, to text: inout QueryText) throws(ODataQueryError) {
        guard (0...99_999).contains(value.srid) else {
            throw .unsupportedLiteral("SRID \(value.srid)", reason: "reference systems have numbers from 0 to 99999")
        }
        text.syntax(value.space.rawValue + "'SRID=" + String(value.srid))
        // A bare semicolon would end a nested option.
        text.value(";")
        try write(value.shape, depth: 0, to: &text)
        text.syntax("'")
    }

    private static func write(_ shape: EdmSpatial.Shape, depth: Int, to text: inout QueryText) throws(ODataQueryError) {
        guard depth < QueryPrinter.depthLimit, !shape.nesting.isCut else { throw .tooDeep(limit: QueryPrinter.depthLimit) }
        switch shape {
        case .point(let position):
            text.syntax("Point(")
            try write(position, to: &text)
            text.syntax(")")
        case .line(let line):
            text.syntax("LineString")
            try write(line, atLeast: 2, to: &text)
        case .polygon(let rings):
            text.syntax("Polygon")
            try writeRings(rings, to: &text)
        case .points(let points):
            text.syntax("MultiPoint")
            try list(points, to: &text) { point, text throws(ODataQueryError) in
                text.syntax("(")
                try write(point, to: &text)
                text.syntax(")")
            }
        case .lines(let lines):
            text.syntax("MultiLineString")
            try list(lines, to: &text) { line, text throws(ODataQueryError) in try write(line, atLeast: 2, to: &text) }
        case .polygons(let polygons):
            text.syntax("MultiPolygon")
            try list(polygons, to: &text) { rings, text throws(ODataQueryError) in try writeRings(rings, to: &text) }
        case .collection(let shapes):
            guard !shapes.isEmpty else { throw .unsupportedLiteral("An empty GeometryCollection", reason: "it has no literal") }
            text.syntax("GeometryCollection")
            try list(Array(shapes), to: &text) { shape, text throws(ODataQueryError) in try write(shape, depth: depth + 1, to: &text) }
        }
    }

    private static func writeRings(_ rings: [[EdmSpatial.Position]], to text: inout QueryText) throws(ODataQueryError) {
        guard !rings.isEmpty else { throw .unsupportedLiteral("A polygon", reason: "it has no ring") }
        try list(rings, to: &text) { ring, text throws(ODataQueryError) in try write(ring, atLeast: 1, to: &text) }
    }

    private static func write(
        _ positions: [EdmSpatial.Position], atLeast count: Int, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard positions.count >= count else {
            throw .unsupportedLiteral("A line or ring of \(positions.count) positions", reason: "it needs \(count) at least")
        }
        try list(positions, to: &text) { position, text throws(ODataQueryError) in try write(position, to: &text) }
    }

    private static func write(_ position: EdmSpatial.Position, to text: inout QueryText) throws(ODataQueryError) {
        guard position.m == nil || position.z != nil else {
            throw .unsupportedLiteral("A position with a measure", reason: "it needs an altitude as well")
        }
        for (index, number) in [position.x, position.y, position.z, position.m].compactMap(\.self).enumerated() {
            if index > 0 { text.syntax(" ") }
            text.value(NumberText.floating(number))
        }
    }

    private static func list<Item>(
        _ items: [Item], to text: inout QueryText, _ write: (Item, inout QueryText) throws(ODataQueryError) -> Void
    ) throws(ODataQueryError) {
        text.syntax("(")
        for (index, item) in items.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(item, &text)
        }
        text.syntax(")")
    }
}
