import WebServiceClient

/// A geographic or geometric value in URLs: `Edm.Geography…` and `Edm.Geometry…` (CSDL, section 3.3).
public struct EdmSpatial: Sendable, Hashable {
    /// The coordinate spaces.
    public enum Space: String, Sendable, Hashable, CaseIterable {
        /// Longitude and latitude on the earth.
        case geography
        /// A flat plane.
        case geometry
    }

    /// A point's coordinates.
    public struct Position: Sendable, Hashable {
        /// Longitude, or x.
        public var x: Double
        /// Latitude, or y.
        public var y: Double
        /// Altitude, or z.
        public var z: Double?
        /// A linear measure; requires ``z``.
        public var m: Double?

        /// Creates a position from its coordinates; `x` is the longitude.
        public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
            self.x = x
            self.y = y
            self.z = z
            self.m = m
        }
    }

    /// The shapes.
    public indirect enum Shape: Sendable, Hashable {
        /// A point.
        case point(Position)
        /// A line of at least two positions.
        case line([Position])
        /// A polygon: its outer ring and its holes, as closed rings.
        case polygon([[Position]])
        /// Points.
        case points([Position])
        /// Lines.
        case lines([[Position]])
        /// Polygons.
        case polygons([[[Position]]])
        /// Shapes of any kind.
        case collection(Shapes)
    }

    /// The coordinate space.
    public var space: Space
    /// The spatial reference system's number, such as 4326 for WGS 84; 0 to 99999.
    public var srid: Int
    /// The shape.
    public var shape: Shape

    /// Creates a value from its parts.
    public init(_ space: Space, srid: Int, _ shape: Shape) {
        self.space = space
        self.srid = srid
        self.shape = shape
    }

    /// Returns a point on the earth, in WGS 84.
    public static func point(longitude: Double, latitude: Double) -> EdmSpatial {
        EdmSpatial(.geography, srid: 4326, .point(Position(x: longitude, y: latitude)))
    }
}

extension EdmSpatial {
    /// The shapes of a collection.
    ///
    /// Collections nest at most 256 levels deep, more than can be written. Deeper shapes are dropped, and writing a collection that
    /// contained one throws.
    public struct Shapes: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        /// The maximum number of levels.
        private static let heightLimit = 256

        private let list: [Shape]
        let nesting: Nesting

        /// Creates the shapes of a list.
        public init(_ shapes: some Sequence<Shape>) {
            var nesting = Nesting()
            list = shapes.map { shape in
                let isTooDeep = shape.nesting.isTooDeep(for: Self.heightLimit)
                nesting.add(isTooDeep ? .cut : shape.nesting)
                return isTooDeep ? .collection(Shapes(cut: ())) : shape
            }
            self.nesting = nesting
        }

        /// Creates the shapes of a literal.
        public init(arrayLiteral elements: Shape...) {
            self.init(elements)
        }

        private init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// The number of shapes.
        public var endIndex: Int { list.count }
        /// Returns the shape at a valid position.
        public subscript(position: Int) -> Shape { list[position] }
    }
}

extension EdmSpatial.Shape {
    /// Returns a collection of shapes of any kind.
    public static func collection(_ shapes: [EdmSpatial.Shape]) -> EdmSpatial.Shape {
        .collection(EdmSpatial.Shapes(shapes))
    }

    /// The nesting depth of the shape.
    var nesting: Nesting {
        if case .collection(let shapes) = self { shapes.nesting } else { .none }
    }
}
