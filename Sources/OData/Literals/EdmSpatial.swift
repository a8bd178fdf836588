/// A geographic or geometric value: `Edm.Geography…` and `Edm.Geometry…` (CSDL, section 3.3), as it stands in URLs.
public struct EdmSpatial: Sendable, Hashable {
    /// What the coordinates mean.
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
        /// A linear measure; it needs a ``z``.
        public var m: Double?

        /// A position from its coordinates; `x` is the longitude.
        public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
            self.x = x
            self.y = y
            self.z = z
            self.m = m
        }
    }

    /// What lies there.
    public indirect enum Shape: Sendable, Hashable {
        /// A point.
        case point(Position)
        /// A line of at least two positions.
        case line([Position])
        /// A polygon: its outer ring and its holes, each of which ends where it begins.
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

    /// What the coordinates mean.
    public var space: Space
    /// The spatial reference system's number, such as 4326 for WGS 84; 0 to 99999.
    public var srid: Int
    /// What lies there.
    public var shape: Shape

    /// A value from its parts.
    public init(_ space: Space, srid: Int, _ shape: Shape) {
        self.space = space
        self.srid = srid
        self.shape = shape
    }

    /// A point on the earth, in WGS 84.
    public static func point(longitude: Double, latitude: Double) -> EdmSpatial {
        EdmSpatial(.geography, srid: 4326, .point(Position(x: longitude, y: latitude)))
    }
}

extension EdmSpatial: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .spatial(self) }
}
