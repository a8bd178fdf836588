extension EdmSpatial {
    /// The shapes of a collection.
    ///
    /// Collections nest 256 levels deep at most, more than is ever written. What would be deeper is left out, and what it was to be in can't be
    /// written: that is an error.
    public struct Shapes: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        /// How many levels there are at most.
        private static let heightLimit = 256

        private let list: [Shape]
        let nesting: Nesting

        /// The shapes of a list.
        public init(_ shapes: some Sequence<Shape>) {
            var nesting = Nesting()
            list = shapes.map { shape in
                let isTooDeep = shape.nesting.isTooDeep(for: Self.heightLimit)
                nesting.add(isTooDeep ? .cut : shape.nesting)
                return isTooDeep ? .collection(Shapes(cut: ())) : shape
            }
            self.nesting = nesting
        }

        /// The shapes of a literal.
        public init(arrayLiteral elements: Shape...) {
            self.init(elements)
        }

        private init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// How many shapes there are.
        public var endIndex: Int { list.count }
        /// A shape by its position, which must be one.
        public subscript(position: Int) -> Shape { list[position] }
    }
}

extension EdmSpatial.Shape {
    /// Shapes of any kind.
    public static func collection(_ shapes: [EdmSpatial.Shape]) -> EdmSpatial.Shape {
        .collection(EdmSpatial.Shapes(shapes))
    }

    /// How deep the shape nests.
    var nesting: Nesting {
        if case .collection(let shapes) = self { shapes.nesting } else { .none }
    }
}
