import WebServiceClient

// The literals of geographic and geometric values: `SpatialWriter` writes them, `SpatialText` reads them.

/// Writes geographic and geometric literals: `geography'SRID=4326;Point(7.1 50.7)'` (ABNF, "Literal Data Values").
enum SpatialWriter {
    static func write(_ value: EdmSpatial, to text: inout QueryText) throws(ODataQueryError) {
        guard (0...99_999).contains(value.srid) else {
            throw .unsupportedLiteral("SRID \(value.srid)", reason: "reference systems have numbers from 0 to 99999")
        }
        text.syntax(value.space.rawValue + "'SRID=" + String(value.srid))
        // An unencoded semicolon would end a nested option.
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
            throw .unsupportedLiteral("A line or ring of \(positions.count) positions", reason: "it needs at least \(count)")
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

/// Reads the quoted part of a geographic or geometric literal: `SRID=4326;Point(7.1 50.7)`.
package struct SpatialText {
    private var bytes: ArraySlice<UInt8>
    private var depth = 0

    package static func value(_ text: String, space: EdmSpatial.Space) -> EdmSpatial? {
        var reader = SpatialText(bytes: Array(text.utf8)[...])
        guard reader.skip("SRID=") else { return nil }
        let digits = reader.bytes.prefix { (0x30...0x39).contains($0) }
        guard (1...5).contains(digits.count), let srid = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        reader.bytes.removeFirst(digits.count)
        guard reader.skip(";"), let shape = reader.shape(), reader.bytes.isEmpty else { return nil }
        return EdmSpatial(space, srid: srid, shape)
    }

    private mutating func skip(_ word: String) -> Bool {
        guard bytes.count >= word.utf8.count, zip(bytes, word.utf8).allSatisfy({ $0 == $1 || ($0 | 0x20 == $1 | 0x20 && $1 > 0x40) }) else {
            return false
        }
        bytes.removeFirst(word.utf8.count)
        return true
    }

    private mutating func shape() -> EdmSpatial.Shape? {
        depth += 1
        defer { depth -= 1 }
        guard depth < QueryPrinter.depthLimit else { return nil }
        if skip("MultiPoint") {
            return list(isEmptyAllowed: true) { $0.point() }.map { .points($0) }
        } else if skip("MultiLineString") {
            return list(isEmptyAllowed: true) { $0.line(atLeast: 2) }.map { .lines($0) }
        } else if skip("MultiPolygon") {
            return list(isEmptyAllowed: true) { $0.rings() }.map { .polygons($0) }
        } else if skip("GeometryCollection") {
            return list(isEmptyAllowed: false) { $0.shape() }.map { .collection($0) }
        } else if skip("Point") {
            return point().map { .point($0) }
        } else if skip("LineString") {
            return line(atLeast: 2).map { .line($0) }
        } else if skip("Polygon") {
            return rings().map { .polygon($0) }
        }
        return nil
    }

    private mutating func list<Item>(isEmptyAllowed: Bool, _ item: (inout SpatialText) -> Item?) -> [Item]? {
        guard skip("(") else { return nil }
        if isEmptyAllowed, skip(")") { return [] }
        var items: [Item] = []
        repeat {
            guard let next = item(&self) else { return nil }
            items.append(next)
        } while skip(",")
        return skip(")") ? items : nil
    }

    private mutating func rings() -> [[EdmSpatial.Position]]? {
        list(isEmptyAllowed: false) { $0.line(atLeast: 1) }
    }

    private mutating func line(atLeast count: Int) -> [EdmSpatial.Position]? {
        guard let positions = list(isEmptyAllowed: false, { $0.position() }), positions.count >= count else { return nil }
        return positions
    }

    private mutating func point() -> EdmSpatial.Position? {
        guard skip("("), let position = position(), skip(")") else { return nil }
        return position
    }

    private mutating func position() -> EdmSpatial.Position? {
        var numbers: [Double] = []
        repeat {
            let text = bytes.prefix { $0 != 0x20 && $0 != 0x2C && $0 != 0x28 && $0 != 0x29 }
            guard let number = Self.number(String(decoding: text, as: UTF8.self)) else { return nil }
            numbers.append(number)
            bytes.removeFirst(text.count)
        } while numbers.count < 4 && skip(" ")
        guard numbers.count >= 2 else { return nil }
        return EdmSpatial.Position(
            x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil, m: numbers.count > 3 ? numbers[3] : nil)
    }

    private static func number(_ text: String) -> Double? {
        switch text {
        case "INF": return .infinity
        case "-INF": return -.infinity
        case "NaN": return .nan
        default:
            guard (try? NumberText.checked(text)) != nil, let number = Double(text), number.isFinite else { return nil }
            return number
        }
    }
}
