/// What a record says beside its message: values by name, in the order in which they were given.
///
///     var metadata: LogMetadata = ["user": "7", "retries": 2]
///     metadata["elapsed"] = 0.25
///
/// A name stands in it once: setting it again keeps its place and takes the later value. The empty name, which receivers refuse, is
/// `_`. Lookups walk the pairs, which is the quickest way for the handful that a record has.
public struct LogMetadata: Sendable, Hashable {
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

    private var pairs: [Pair]

    /// No values.
    public init() {
        pairs = []
    }

    /// The given values in their order; of two with one name the later value counts.
    public init(_ values: some Sequence<(String, LogValue)>) {
        pairs = []
        for (key, value) in values { self[key] = value }
    }

    /// Pairs that were metadata before, whose names are therefore there once.
    init(spooled pairs: [Pair]) {
        self.pairs = pairs
    }

    /// The value of a name. Setting `nil` removes it; to say that there is no value set ``LogValue/null``.
    public subscript(key: String) -> LogValue? {
        get {
            let key = Self.name(key)
            return pairs.first { $0.key == key }?.value
        }
        set {
            let key = Self.name(key)
            let index = pairs.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): pairs[index].value = value
            case (let index?, nil): pairs.remove(at: index)
            case (nil, let value?): pairs.append(Pair(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    private static func name(_ key: String) -> String {
        key.isEmpty ? "_" : key
    }

    /// These values with those of `other` laid over them: its values win, new names come behind.
    public func merging(_ other: LogMetadata) -> LogMetadata {
        guard !pairs.isEmpty else { return other }
        guard !other.pairs.isEmpty else { return self }
        var result = self
        result.pairs.reserveCapacity(pairs.count + other.pairs.count)
        for pair in other.pairs { result[pair.key] = pair.value }
        return result
    }

    /// Puts another value at a position.
    mutating func setValue(_ value: LogValue, at index: Int) {
        guard pairs.indices.contains(index) else { return }
        pairs[index].value = value
    }

    /// About how many bytes the values hold in memory.
    func footprint(depth: Int = 0) -> Int {
        guard !pairs.isEmpty else { return 0 }
        return pairs.reduce(32) { $0 + MemoryLayout<Pair>.stride + $1.key.utf8.count + $1.value.footprint(depth: depth) }
    }
}

extension LogMetadata: ExpressibleByDictionaryLiteral {
    /// Values from a literal, in the order in which they are written.
    ///
    /// It is inlined so that the literal's array stays on the caller's stack.
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
        for index in pairs.indices where pairs[index].key == key {
            pairs[index].value = value
            return
        }
        pairs.append(Pair(key: key, value: value))
    }
}

extension LogMetadata: RandomAccessCollection {
    /// The position of the first pair.
    public var startIndex: Int { pairs.startIndex }
    /// The position behind the last pair.
    public var endIndex: Int { pairs.endIndex }
    /// The pair at a position.
    public subscript(position: Int) -> Pair { pairs[position] }
}

extension LogMetadata: CustomStringConvertible {
    /// The values as `name=value`, parted by blanks.
    public var description: String {
        map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
