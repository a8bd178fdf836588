import Foundation

/// Encodes the value at a place; it is also its single-value container.
struct XMLElementEncoder: Encoder {
    let state: XMLEncodingState
    let target: XMLTarget
    let codingPath: [any CodingKey]
    /// Whether keys are names without notation, as in a dictionary.
    var hasLiteralKeys = false

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            XMLKeyedEncoding(state: state, node: state.open(target, codingPath), hasLiteralKeys: hasLiteralKeys, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        XMLListEncoding(state: state, item: state.list(target, codingPath), codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Writes an untyped element.
    func encode(untyped value: XMLValue) throws {
        guard !value.nesting.isCut else {
            throw state.invalid("The value nests more than \(XMLLimits.greatestDepth) levels deep.", codingPath)
        }
        switch target {
        case .element(let node):
            node.name = value.name
            node.attributes += value.attributes
            node.declarations += value.declarations
            node.items += value.children.map { child in
                switch child {
                case .text(let text): .text(text)
                case .element(let element): .untyped(element)
                }
            }
        case .choice(let node): node.items.append(.untyped(value))
        case .child(let parent, let name), .wrapped(let parent, let name), .item(let parent, let name):
            guard name == value.name else {
                throw state.invalid(
                    "The element “\(value.name)” can't be written where the coding key names “\(name)”: rename one of them.", codingPath)
            }
            parent.items.append(.untyped(value))
        case .attribute, .text:
            _ = state.open(target, codingPath)
            if let fault = state.fault { throw fault }
        }
    }
}

extension XMLElementEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { try state.putNil(target, codingPath) }
    func encode(_ value: Bool) throws { try put(value ? "true" : "false") }
    func encode(_ value: String) throws { try put(value) }
    func encode(_ value: Double) throws { try put(XMLNumberText.text(of: value)) }
    func encode(_ value: Float) throws { try put(XMLNumberText.text(of: value)) }
    func encode(_ value: Int) throws { try put(String(value)) }
    func encode(_ value: Int8) throws { try put(String(value)) }
    func encode(_ value: Int16) throws { try put(String(value)) }
    func encode(_ value: Int32) throws { try put(String(value)) }
    func encode(_ value: Int64) throws { try put(String(value)) }
    func encode(_ value: UInt) throws { try put(String(value)) }
    func encode(_ value: UInt8) throws { try put(String(value)) }
    func encode(_ value: UInt16) throws { try put(String(value)) }
    func encode(_ value: UInt32) throws { try put(String(value)) }
    func encode(_ value: UInt64) throws { try put(String(value)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { try put(String(value)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { try put(String(value)) }

    func encode<Value: Encodable>(_ value: Value) throws { try state.encode(value, into: target, codingPath) }

    private func put(_ text: String) throws { try state.put(text, target, codingPath) }
}

/// Numbers as XML Schema part 2 writes them.
enum XMLNumberText {
    static func text(of value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        return value.isInfinite ? (value < 0 ? "-INF" : "INF") : value.description
    }
}

extension XMLEncodingState {
    /// The target of each value of a list.
    func list(_ target: XMLTarget, _ path: [any CodingKey]) -> XMLTarget {
        switch target {
        case .choice: return target
        case .wrapped(let parent, let name): return .item(of: parent, name)
        case .child(let parent, let name):
            guard case .wrapped(let item) = rules.lists else { return .item(of: parent, name) }
            let wrapper = parent.add(element: name)
            return self.item(item, in: wrapper, path)
        case .element, .item, .attribute, .text:
            return item(rules.itemName, in: open(target, path), path)
        }
    }

    private func item(_ name: String, in node: XMLElementNode, _ path: [any CodingKey]) -> XMLTarget {
        var rules = rules
        rules.keys = .asDeclared
        do {
            return .item(of: node, try Self.name(name, rules).written(inside: node.name.namespace))
        } catch {
            record(error, path)
            return .item(of: node, XMLName("item", namespace: nil))
        }
    }

    /// The target of a key.
    func target(_ key: any CodingKey, in node: XMLElementNode, isLiteral: Bool, _ path: [any CodingKey]) throws -> XMLTarget {
        let place = try self.key(key, isLiteral: isLiteral, path)
        var parent = node
        for wrapper in place.wrappers { parent = parent.wrapper(wrapper.written(inside: parent.name.namespace)) }
        switch place.leaf {
        case .element(let name):
            let name = name.written(inside: parent.name.namespace)
            return place.wrappers.isEmpty ? .child(of: parent, name) : .wrapped(of: parent, name)
        case .attribute(let name): return .attribute(of: parent, name.written(inside: nil))
        case .text: return .text(of: parent)
        case .elements: return .choice(in: parent)
        case .itself: return .element(parent)
        }
    }
}

struct XMLKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: XMLEncodingState
    let node: XMLElementNode
    let hasLiteralKeys: Bool
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { try child(key).encodeNil() }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: String, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try child(key).encode(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: Int128, forKey key: Key) throws { try child(key).encode(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: UInt128, forKey key: Key) throws { try child(key).encode(value) }

    // A missing optional is nil, which the rules may write.

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try encodeOptional(value, key) }

    private mutating func encodeOptional<Value: Encodable>(_ value: Value?, _ key: Key) throws {
        if let value { return try child(key).encode(value) }
        // A nil list would be read as an empty one, and an optional list as nil, from the same missing element.
        guard state.rules.nils != .missing else { return }
        try child(key).encodeNil()
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { XMLElementEncoder(state: state, target: .element(node), codingPath: codingPath) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func child(_ key: Key) throws -> XMLElementEncoder {
        let path = codingPath + [key]
        return XMLElementEncoder(
            state: state, target: try state.target(key, in: node, isLiteral: hasLiteralKeys, path), codingPath: path)
    }

    private func nested(_ key: Key) -> XMLElementEncoder {
        do {
            return try child(key)
        } catch {
            state.record(error, codingPath + [key])
            let lost = XMLElementNode(XMLName("_", namespace: nil), state)
            return XMLElementEncoder(state: state, target: .element(lost), codingPath: codingPath + [key])
        }
    }
}

struct XMLListEncoding: UnkeyedEncodingContainer {
    let state: XMLEncodingState
    let item: XMLTarget
    let codingPath: [any CodingKey]
    private(set) var count = 0

    init(state: XMLEncodingState, item: XMLTarget, codingPath: [any CodingKey]) {
        self.state = state
        self.item = item
        self.codingPath = codingPath
    }

    mutating func encodeNil() throws { try next().encodeNil() }
    mutating func encode(_ value: Bool) throws { try next().encode(value) }
    mutating func encode(_ value: String) throws { try next().encode(value) }
    mutating func encode(_ value: Double) throws { try next().encode(value) }
    mutating func encode(_ value: Float) throws { try next().encode(value) }
    mutating func encode(_ value: Int) throws { try next().encode(value) }
    mutating func encode(_ value: Int8) throws { try next().encode(value) }
    mutating func encode(_ value: Int16) throws { try next().encode(value) }
    mutating func encode(_ value: Int32) throws { try next().encode(value) }
    mutating func encode(_ value: Int64) throws { try next().encode(value) }
    mutating func encode(_ value: UInt) throws { try next().encode(value) }
    mutating func encode(_ value: UInt8) throws { try next().encode(value) }
    mutating func encode(_ value: UInt16) throws { try next().encode(value) }
    mutating func encode(_ value: UInt32) throws { try next().encode(value) }
    mutating func encode(_ value: UInt64) throws { try next().encode(value) }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try next().encode(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: Int128) throws { try next().encode(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: UInt128) throws { try next().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { next() }

    private mutating func next() -> XMLElementEncoder {
        defer { count += 1 }
        return XMLElementEncoder(state: state, target: item, codingPath: codingPath + [FieldKey(intValue: count)])
    }
}
