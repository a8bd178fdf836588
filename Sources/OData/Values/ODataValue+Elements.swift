extension ODataValue {
    /// The elements of a collection.
    ///
    /// Values nest 512 levels deep at most, which is as deep as they are read and written. What would be deeper is left out, and what it was to be
    /// in can't be written: that is an `EncodingError`.
    public struct Elements: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        let list: [ODataValue]
        let nesting: Nesting

        /// The elements of a list.
        public init(_ elements: some Sequence<ODataValue>) {
            var list = Array(elements)
            nesting = Nesting(of: &list)
            self.list = list
        }

        /// The elements of a literal.
        public init(arrayLiteral elements: ODataValue...) {
            self.init(elements)
        }

        fileprivate init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// How many elements there are.
        public var endIndex: Int { list.count }
        /// An element by its position, which must be one.
        public subscript(position: Int) -> ODataValue { list[position] }
    }

    /// A collection.
    public static func array(_ elements: [ODataValue]) -> ODataValue {
        .array(Elements(elements))
    }

    /// What stands in place of an array that is too deep.
    static let cut = ODataValue.array(Elements(cut: ()))

    /// How deep the value nests.
    var nesting: Nesting {
        switch self {
        case .array(let elements): elements.nesting
        case .object(let object): object.nesting
        case .null, .boolean, .integer, .decimal, .string: .none
        }
    }

    /// The value where it may be in another one, else what stands in its place.
    var bounded: ODataValue {
        guard nesting.isTooDeep(for: PayloadScanner.depthLimit) else { return self }
        if case .object = self { return .object(DynamicEntity(cut: ())) }
        return .cut
    }

    /// Why the value can't be written; `nil` where it can.
    var refusal: PayloadRefusal? {
        nesting.isCut ? PayloadRefusal(description: "The value nests more than \(PayloadScanner.depthLimit) levels deep.") : nil
    }
}

extension Nesting {
    /// The nesting of a list, in which what is too deep is replaced.
    init(of list: inout [ODataValue]) {
        self.init()
        for index in list.indices {
            let inner = list[index].nesting
            if inner.isTooDeep(for: PayloadScanner.depthLimit) { list[index] = list[index].bounded }
            add(list[index].nesting)
        }
    }
}
