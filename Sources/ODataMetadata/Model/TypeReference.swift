extension ServiceModel {
    /// A reference to a type with its facets, in a property, parameter, return type, term or expression (section 7.2).
    public struct TypeReference: Sendable, Hashable {
        /// The maximum length of a string or binary value, in characters or octets.
        public enum MaxLength: Sendable, Hashable {
            /// A number.
            case fixed(Int)
            /// `max`: as long as the service allows.
            case max
        }

        /// The number of digits after the decimal point.
        public enum Scale: Sendable, Hashable {
            /// A number.
            case fixed(Int)
            /// Any number of digits up to the precision.
            case variable
            /// A decimal floating-point number.
            case floating
        }

        /// The spatial reference system of a geography or geometry.
        public enum SRID: Sendable, Hashable {
            /// A number of the European Petroleum Survey Group.
            case fixed(Int)
            /// Each value states its own system.
            case variable
        }

        /// The qualified name of the type, or of the elements' type: `Edm.String`, `Sales.Order`.
        public var name: String
        /// Whether values are collections.
        public var isCollection: Bool
        /// Whether a value, or an element of a collection, can be null.
        ///
        /// V4 defines no default for collections; it is `true` if the document doesn't state it.
        public var isNullable: Bool
        /// The maximum length, or `nil`.
        public var maxLength: MaxLength?
        /// The digits of a decimal, or the fractional digits of the seconds of a time; `nil` if the document doesn't state them.
        public var precision: Int?
        /// The scale of a decimal; `nil` if the document doesn't state it, which means 0.
        public var scale: Scale?
        /// The spatial reference system; `nil` if the document doesn't state it, which means 4326 for geographies and 0 for geometries.
        public var srid: SRID?
        /// Whether a string can have characters that aren't ASCII.
        public var isUnicode: Bool

        /// Whether the type is one of the namespace `Edm`.
        public var isPrimitive: Bool { name.hasPrefix("Edm.") }

        /// Creates a reference.
        public init(
            _ name: String, isCollection: Bool = false, isNullable: Bool = true, maxLength: MaxLength? = nil, precision: Int? = nil,
            scale: Scale? = nil, srid: SRID? = nil, isUnicode: Bool = true
        ) {
            self.name = name
            self.isCollection = isCollection
            self.isNullable = isNullable
            self.maxLength = maxLength
            self.precision = precision
            self.scale = scale
            self.srid = srid
            self.isUnicode = isUnicode
        }
    }
}

extension ServiceModel.TypeReference: CustomStringConvertible {
    /// `Edm.String`, `Collection(Sales.Order)`.
    public var description: String { isCollection ? "Collection(\(name))" : name }
}
