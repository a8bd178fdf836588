/// The values of a record in addition to its message, by name, in insertion order.
///
///     var metadata: LogMetadata = ["user": "7", "retries": 2]
///     metadata["elapsed"] = 0.25
///
/// Names are unique: setting a name again keeps its position and replaces the value. The empty name, which receivers reject, becomes `_`.
/// Setting and looking up a name take constant time, removing one takes linear time.
public struct LogMetadata: Sendable {
    /// A name with its value.
    public struct Pair: Sendable, Hashable {
        /// The name.
        public let key: String
        /// The value.
        public var value: LogValue

        init(key: String, value: LogValue) {
            self.key = key
            self.value = value
        }
    }

    /// Up to this number of pairs a linear search is faster than a hash table.
    private static let walked = 16

    private var pairs: [Pair]
    /// The positions of all names, once there are more than ``walked``; `nil` until a name is set after that.
    private var positions: [String: Int]?

    /// Creates empty metadata.
    public init() {
        pairs = []
    }

    /// Creates metadata with values in the given order; the last of several values with one name is used.
    public init(_ values: some Sequence<(String, LogValue)>) {
        self.init(capacity: values.underestimatedCount)
        for (key, value) in values { add(key, value) }
    }

    /// Creates metadata from pairs of earlier metadata, whose names are therefore unique.
    init(spooled pairs: [Pair]) {
        self.pairs = pairs
    }

    /// The value of a name. Setting `nil` removes it; ``LogValue/null`` keeps the name without a value.
    public subscript(key: String) -> LogValue? {
        get {
            position(of: Self.name(key)).map { pairs[$0].value }
        }
        set {
            guard let newValue else { return remove(Self.name(key)) }
            add(key, newValue)
        }
    }

    /// The position of a name. Metadata from a spool has no table, since its names are rarely looked up.
    private func position(of key: String) -> Int? {
        if let positions { return positions[key] }
        return pairs.firstIndex { $0.key == key }
    }

    private mutating func remove(_ key: String) {
        guard let position = position(of: key) else { return }
        pairs.remove(at: position)
        positions?[key] = nil
        // The following names have moved.
        if position < pairs.count { positions = positions?.mapValues { $0 > position ? $0 - 1 : $0 } }
    }

    private mutating func tabulate() {
        var positions = Dictionary<String, Int>(minimumCapacity: 2 * pairs.count)
        for (position, pair) in pairs.enumerated() { positions[pair.key] = position }
        self.positions = positions
    }

    private static func name(_ key: String) -> String {
        key.isEmpty ? "_" : key
    }

    /// Returns these values merged with `other`, whose values take precedence; new names are appended.
    public func merging(_ other: LogMetadata) -> LogMetadata {
        guard !pairs.isEmpty else { return other }
        guard !other.pairs.isEmpty else { return self }
        var result = self
        result.pairs.reserveCapacity(pairs.count + other.pairs.count)
        for pair in other.pairs { result.add(pair.key, pair.value) }
        return result
    }

    /// Replaces the value at a position.
    mutating func setValue(_ value: LogValue, at index: Int) {
        guard pairs.indices.contains(index) else { return }
        pairs[index].value = value
    }

    /// The approximate number of bytes that the values occupy in memory.
    func footprint(depth: Int = 0) -> Int {
        guard !pairs.isEmpty else { return 0 }
        return pairs.reduce(32) { $0 + MemoryLayout<Pair>.stride + $1.key.utf8.count + $1.value.footprint(depth: depth) }
    }
}

extension LogMetadata: ExpressibleByDictionaryLiteral {
    /// Creates metadata from a literal, in the order of the literal.
    ///
    /// Inlined so that the literal's array stays on the caller's stack.
    @inlinable public init(dictionaryLiteral elements: (String, any LogValueConvertible)...) {
        self.init(capacity: elements.count)
        for (key, value) in elements { add(key, value.logValue) }
    }

    @usableFromInline init(capacity: Int) {
        pairs = []
        pairs.reserveCapacity(capacity)
    }

    @usableFromInline mutating func add(_ key: consuming String, _ value: consuming LogValue) {
        if key.isEmpty { key = Self.name(key) }
        if positions != nil || pairs.count > Self.walked {
            if positions == nil { tabulate() }
            if let position = positions?[copy key] {
                pairs[position].value = value
                return
            }
            positions?[copy key] = pairs.count
        } else {
            for index in pairs.indices where pairs[index].key == key {
                pairs[index].value = value
                return
            }
        }
        pairs.append(Pair(key: key, value: value))
    }
}

extension LogMetadata: Hashable {
    /// Whether both have the same pairs in the same order.
    public static func == (left: Self, right: Self) -> Bool {
        left.pairs == right.pairs
    }

    /// Hashes the pairs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(pairs)
    }
}

extension LogMetadata {
    /// The maximum number of names in the metadata of a record, over all levels: 10,000. Names above the limit are dropped, and
    /// ``droppedKey`` gives their number.
    public static let maximumNames = 10_000

    /// The name under which a record stores the number of names dropped above ``maximumNames``.
    public static let droppedKey = "log.metadata.dropped"

    /// Drops the names above ``maximumNames`` and stores their number.
    ///
    /// - Returns: The number of dropped names.
    mutating func trim() -> Int {
        let count = nameCount(depth: 0)
        guard count > Self.maximumNames else { return 0 }
        var room = Self.maximumNames - 1
        self = trimmed(to: &room, depth: 0)
        let dropped = count - (Self.maximumNames - 1 - room)
        self[Self.droppedKey] = .int(Int64(dropped))
        return dropped
    }

    private func nameCount(depth: Int) -> Int {
        pairs.reduce(pairs.count) { $0 + Self.nameCount(of: $1.value, depth: depth) }
    }

    private static func nameCount(of value: LogValue, depth: Int) -> Int {
        // Deeper values are written as ``LogValue/tooDeep``, without their names.
        guard depth < LogValue.maximumDepth else { return 0 }
        return switch value {
        case .dictionary(let values): values.nameCount(depth: depth + 1)
        case .array(let values): values.reduce(0) { $0 + nameCount(of: $1, depth: depth + 1) }
        default: 0
        }
    }

    private func trimmed(to room: inout Int, depth: Int) -> LogMetadata {
        var result = LogMetadata()
        for pair in pairs {
            guard room > 0 else { break }
            room -= 1
            result.pairs.append(Pair(key: pair.key, value: Self.trimmed(pair.value, to: &room, depth: depth)))
        }
        return result
    }

    private static func trimmed(_ value: LogValue, to room: inout Int, depth: Int) -> LogValue {
        guard depth < LogValue.maximumDepth else { return value }
        switch value {
        case .dictionary(let values): return .dictionary(values.trimmed(to: &room, depth: depth + 1))
        case .array(let values):
            var elements: [LogValue] = []
            elements.reserveCapacity(values.count)
            for element in values { elements.append(trimmed(element, to: &room, depth: depth + 1)) }
            return .array(elements)
        default: return value
        }
    }
}

extension LogMetadata: RandomAccessCollection {
    /// The position of the first pair.
    public var startIndex: Int { pairs.startIndex }
    /// The position after the last pair.
    public var endIndex: Int { pairs.endIndex }
    /// The pair at a position.
    public subscript(position: Int) -> Pair { pairs[position] }
}

extension LogMetadata: CustomStringConvertible {
    /// The values as `name=value`, separated by spaces.
    public var description: String {
        map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
