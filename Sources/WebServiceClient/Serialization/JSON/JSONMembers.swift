extension JSONValue {
    /// The members of an object, with unique names, in order. Two objects are equal if they have the same members in any order.
    public struct Members: Sendable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
        private var list: [(name: String, value: JSONValue)] = []
        /// The positions of the names in a large object, where a linear search is slower.
        private var positions: [String: Int] = [:]
        private(set) var nesting = ValueNesting()

        private static let searchedCount = 12

        /// Creates the members of an object; for duplicate names, the last value wins.
        public init(_ members: some Sequence<(String, JSONValue)> = EmptyCollection()) {
            for (name, value) in members { self[name] = value }
        }

        /// Creates the members of a literal.
        public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

        init(cut: Void) { nesting = .cut }

        /// Zero.
        public var startIndex: Int { 0 }
        /// The number of members.
        public var endIndex: Int { list.count }
        /// Returns the member at a valid position.
        public subscript(position: Int) -> (name: String, value: JSONValue) { list[position] }

        /// The names, in order.
        public var names: [String] { list.map(\.name) }

        /// The value of a member; setting `nil` removes it.
        public subscript(_ name: String) -> JSONValue? {
            get { position(of: name).map { list[$0].value } }
            set {
                switch (position(of: name), newValue) {
                case (let position?, let value?):
                    list[position].value = value.bounded
                    measure()
                case (let position?, nil):
                    list.remove(at: position)
                    positions = [:]
                    index()
                    measure()
                case (nil, let value?): append(name, value)
                case (nil, nil): break
                }
            }
        }

        /// Appends a member whose name is known to be new.
        mutating func append(_ name: String, _ value: JSONValue) {
            let value = value.bounded
            if value.nesting.height > 0 { nesting.add(value.nesting) }
            list.append((name, value))
            if !positions.isEmpty { positions[name] = list.count - 1 } else { index() }
        }

        private mutating func measure() {
            nesting = ValueNesting()
            for member in list { nesting.add(member.value.nesting) }
        }

        private mutating func index() {
            guard list.count > Self.searchedCount else { return }
            for (position, member) in list.enumerated() { positions[member.name] = position }
        }

        private func position(of name: String) -> Int? {
            positions.isEmpty ? list.firstIndex { $0.name == name } : positions[name]
        }
    }
}

extension JSONValue.Members: Hashable {
    /// Returns whether the members are the same, in any order.
    public static func == (one: Self, other: Self) -> Bool {
        one.count == other.count && one.nesting.isCut == other.nesting.isCut && one.allSatisfy { other[$0.name] == $0.value }
    }

    /// Hashes the members regardless of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in self {
            var member = Hasher()
            member.combine(name)
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}
