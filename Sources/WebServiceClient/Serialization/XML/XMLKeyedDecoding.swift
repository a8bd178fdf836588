/// The attributes, texts and child elements of an element, by coding keys.
struct XMLKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let state: XMLDecodingState
    let node: Int
    /// The only visible child element, if its name is a choice.
    let only: Int?
    let hasLiteralKeys: Bool
    let codingPath: [any CodingKey]

    var allKeys: [Key] {
        var seen: Set<String> = []
        var keys: [Key] = []
        func add(_ candidates: [String]) {
            let key = candidates.lazy.compactMap { Key(stringValue: $0) }.first
            if let key, seen.insert(key.stringValue).inserted { keys.append(key) }
        }
        let tree = state.tree
        if only == nil, !hasLiteralKeys {
            for index in tree.attributes(of: node) {
                let name = tree.name(ofAttribute: index)
                let candidates = XMLKey.keys(of: name, state.rules)
                add(candidates.map { "@" + $0 } + candidates.filter { state.rules.attributes.contains($0) })
            }
            if tree.hasText(node) { add(["#text"]) }
        }
        for child in only.map({ [$0] }) ?? tree.elements(of: node) {
            add(hasLiteralKeys ? [tree.name(child).local] : XMLKey.keys(of: tree.name(child), state.rules))
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        // If there is no place, the key itself is at fault, which the next method throws.
        (try? place(key)).map(exists) ?? true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let place = try place(key)
        if case .missing = place { throw missing(key) }
        return state.isNil(place)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).decode(type) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try child(key).decode(type) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try child(key).decode(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let place = try place(key)
        if isMissing(place) {
            // A missing element is an empty list, but other types need an element.
            guard type is any ExpressibleByArrayLiteral.Type else {
                if let optional = type as? any ExpressibleByNilLiteral.Type, let value = optional.init(nilLiteral: ()) as? Value {
                    return value
                }
                throw missing(key)
            }
        }
        return try state.decode(type, at: place, codingPath + [key])
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let place = try place(key)
        guard exists(place) else { return nil }
        // An empty wrapper is an empty list, but no value of another type.
        if case .list(let list) = place, list.nodes.isEmpty, type is any ExpressibleByArrayLiteral.Type {
            return try state.decode(type, at: place, codingPath + [key])
        }
        return state.isNil(place) ? nil : try state.decode(type, at: place, codingPath + [key])
    }

    // The default implementations look a key up three times.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try childIfPresent(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try childIfPresent(key)?.decode(type) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try childIfPresent(key)?.decode(type) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try childIfPresent(key)?.decode(type) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try XMLElementDecoder(state: state, place: place(key), codingPath: codingPath + [key]).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        XMLElementDecoder(state: state, place: only.map { .choice($0) } ?? .element(node), codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        XMLElementDecoder(state: state, place: try place(key), codingPath: codingPath + [key])
    }

    // MARK: Places

    /// A decoder for the place of a key.
    private func child(_ key: Key) throws -> XMLElementDecoder {
        let place = try place(key)
        if isMissing(place) { throw missing(key) }
        return XMLElementDecoder(state: state, place: place, codingPath: codingPath + [key])
    }

    /// A decoder for the place of a key; `nil` if there is nothing, or nil.
    private func childIfPresent(_ key: Key) throws -> XMLElementDecoder? {
        let place = try place(key)
        guard exists(place), !state.isNil(place) else { return nil }
        if isMissing(place) { throw missing(key) }
        return XMLElementDecoder(state: state, place: place, codingPath: codingPath + [key])
    }

    /// Whether a place has something, which may be nil or an empty wrapper.
    private func exists(_ place: XMLPlace) -> Bool {
        switch place {
        case .missing: false
        case .list(let list): list.exists
        case .text(let node): state.tree.hasText(node)
        case .choices(let nodes, _): !nodes.isEmpty
        case .element, .attribute, .choice: true
        }
    }

    private func isMissing(_ place: XMLPlace) -> Bool {
        switch place {
        case .missing: true
        case .list(let list): list.nodes.isEmpty
        default: false
        }
    }

    private func place(_ key: Key) throws -> XMLPlace {
        let path = try state.key(key, isLiteral: hasLiteralKeys, codingPath + [key])
        var parents = [node]
        for (depth, wrapper) in path.wrappers.enumerated() {
            parents = depth == 0 ? elements(named: wrapper) : parents.flatMap { state.elements(of: $0, named: wrapper) }
            state.reads(elements: parents)
            for parent in parents { state.reads(keysOf: parent) }
            guard !parents.isEmpty else { break }
        }
        let isWrapped = !path.wrappers.isEmpty
        switch path.leaf {
        case .element(let name):
            let found = isWrapped ? parents.flatMap { state.elements(of: $0, named: name) } : elements(named: name)
            state.reads(elements: found)
            return .list(
                XMLSelection(
                    nodes: found, parent: parents.first ?? node, isExplicit: isWrapped,
                    exists: !found.isEmpty || isWrapped && !parents.isEmpty))
        case .elements:
            let found = isWrapped ? parents.flatMap { state.tree.elements(of: $0) } : only.map { [$0] } ?? state.tree.elements(of: node)
            state.reads(elements: found)
            return .choices(found, in: parents.first ?? node)
        case .attribute(let name):
            let found = try one(parents, key)
            guard let found, let index = state.tree.attribute(name, of: found) else { return .missing(in: node) }
            state.reads(attribute: index)
            return .attribute(index, of: found)
        case .text:
            guard let found = try one(parents, key) else { return .missing(in: node) }
            state.reads(textOf: found)
            return .text(of: found)
        case .itself:
            let named = elements(named: XMLName("_0", namespace: nil))
            if named.isEmpty { return only.map { .choice($0) } ?? .element(node) }
            state.reads(elements: named)
            return .list(XMLSelection(nodes: named, parent: node, isExplicit: false, exists: true))
        }
    }

    /// The one element around an attribute or text.
    private func one(_ parents: [Int], _ key: Key) throws -> Int? {
        guard only == nil || parents != [node] else { return nil }
        guard parents.count <= 1 else {
            throw state.mismatch(
                String.self, codingPath + [key], "one element is needed around it, and there are \(parents.count)", parents[1])
        }
        return parents.first
    }

    private func elements(named name: XMLName) -> [Int] {
        guard let only else { return state.elements(of: node, named: name) }
        return name.finds(state.tree.name(only), inside: state.tree.name(node).namespace) ? [only] : []
    }

    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "The element has no “\(key.stringValue)”.",
                underlyingError: XMLFaultNode(node: only ?? node)))
    }
}

/// The values of a list.
struct XMLListDecoding: UnkeyedDecodingContainer {
    let state: XMLDecodingState
    let places: [XMLPlace]
    let parent: Int
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(state: XMLDecodingState, places: [XMLPlace], parent: Int, codingPath: [any CodingKey]) {
        self.state = state
        self.places = places
        self.parent = parent
        self.codingPath = codingPath
    }

    var count: Int? { places.count }
    var isAtEnd: Bool { currentIndex >= places.count }

    mutating func decodeNil() throws -> Bool {
        guard currentIndex < places.count, state.isNil(places[currentIndex]) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next { try $0.decode(type) } }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next { try $0.unkeyedContainer() } }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }

    /// Passes a decoder of the next value to a closure. A failure leaves the index, as in Foundation's containers.
    private mutating func next<Value>(_ body: (XMLElementDecoder) throws -> Value) throws -> Value {
        let path = codingPath + [FieldKey(intValue: currentIndex)]
        guard currentIndex < places.count else { throw state.missing(Value.self, path, in: parent) }
        let value = try body(XMLElementDecoder(state: state, place: places[currentIndex], codingPath: path))
        currentIndex += 1
        return value
    }
}
