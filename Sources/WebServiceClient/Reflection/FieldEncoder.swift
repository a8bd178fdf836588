/// Encodes an `Encodable` value into a field tree, which covers its coding keys and its wrapped and computed properties.
///
/// Types with a text form here, such as dates, UUIDs, URLs, decimals and data, are handled before their `encode(to:)` is called.
final class FieldEncoder: Encoder {
    let path: FieldPath
    let depth: Int
    let builder: FieldTreeBuilder
    let node: FieldNode

    init(path: FieldPath, depth: Int, builder: FieldTreeBuilder, node: FieldNode) {
        self.path = path
        self.depth = depth
        self.builder = builder
        self.node = node
    }

    static func tree(of value: any Encodable, at path: FieldPath, depth: Int, by builder: FieldTreeBuilder) throws -> FieldTree {
        let encoder = FieldEncoder(path: path, depth: depth, builder: builder, node: FieldNode())
        try value.encode(to: encoder)
        guard let tree = encoder.node.tree else { throw ReflectionError(.mixedContainers, at: path, type: type(of: value)) }
        return tree
    }

    var codingPath: [any CodingKey] { path.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        node.become(.keyed)
        return KeyedEncodingContainer(KeyedFields<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.become(.unkeyed)
        return UnkeyedFields(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleField(encoder: self) }

    /// An encoder for the value under a key of this encoder's node.
    func nested(_ key: String) -> FieldEncoder {
        FieldEncoder(path: .key(key, path), depth: depth + 1, builder: builder, node: node.child(named: name(of: key)))
    }

    /// The name of a key's field.
    func name(of key: String) -> String { builder.name(key, at: path) }

    /// An encoder for the next element of this encoder's node.
    func nextElement() -> FieldEncoder {
        FieldEncoder(path: .index(node.count, path), depth: depth + 1, builder: builder, node: node.nextChild())
    }
}

/// The values that one encoder has received so far.
final class FieldNode {
    enum Kind {
        case unused
        case single
        case keyed
        case unkeyed
    }

    private enum Entry {
        case tree(FieldTree)
        case node(FieldNode)

        var tree: FieldTree? {
            switch self {
            case .tree(let tree): tree
            case .node(let node): node.tree
            }
        }
    }

    private var kind = Kind.unused
    private var isFaulty = false
    private var entries: [(name: String, entry: Entry)] = []

    var count: Int { entries.count }

    /// The whole tree; `nil` if this node or a descendant was asked for containers of different kinds.
    var tree: FieldTree? {
        if isFaulty { return nil }
        var trees: [(name: String, value: FieldTree)] = []
        trees.reserveCapacity(entries.count)
        for (name, entry) in entries {
            guard let tree = entry.tree else { return nil }
            trees.append((name, tree))
        }
        switch kind {
        case .unused, .keyed: return .record(trees)
        case .single: return trees.first?.value
        case .unkeyed: return .list(trees.map(\.value))
        }
    }

    func become(_ kind: Kind) {
        if self.kind != .unused, self.kind != kind { isFaulty = true }
        self.kind = kind
    }

    /// Sets the single value; a second one is a fault.
    func set(_ tree: FieldTree) {
        become(.single)
        if !entries.isEmpty { isFaulty = true }
        entries.append(("", .tree(tree)))
    }

    /// Sets the value of a key; a later value replaces an earlier one in place.
    func set(_ tree: FieldTree, named name: String) { set(.tree(tree), named: name) }

    func append(_ tree: FieldTree) { entries.append(("", .tree(tree))) }

    /// The node under the key: the existing one or a new one.
    func child(named name: String) -> FieldNode {
        if case .node(let node)? = entries.first(where: { $0.name == name })?.entry { return node }
        let node = FieldNode()
        set(.node(node), named: name)
        return node
    }

    func nextChild() -> FieldNode {
        let node = FieldNode()
        entries.append(("", .node(node)))
        return node
    }

    private func set(_ entry: Entry, named name: String) {
        if let index = entries.firstIndex(where: { $0.name == name }) {
            entries[index].entry = entry
        } else {
            entries.append((name, entry))
        }
    }
}

/// A container of values under keys. The generic method replaces all primitive ones, so one place decides which types are texts.
struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FieldEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { encoder.node.set(.missing, named: encoder.name(of: key.stringValue)) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let name = key.stringValue
        let tree = try encoder.builder.tree(of: value, at: .key(name, encoder.path), depth: encoder.depth + 1)
        encoder.node.set(tree, named: encoder.name(of: name))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) -> KeyedEncodingContainer<NestedKey> {
        encoder.nested(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.nested(key.stringValue).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder.nested("super") }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key.stringValue) }
}

// A synthesized `encode(to:)` calls these for optional properties; nil must become a missing value instead of being skipped.
extension KeyedFields {
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }

    private func encodeOptional<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

/// A container of ordered values.
struct UnkeyedFields: UnkeyedEncodingContainer {
    let encoder: FieldEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    func encodeNil() throws { encoder.node.append(.missing) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let path = FieldPath.index(encoder.node.count, encoder.path)
        encoder.node.append(try encoder.builder.tree(of: value, at: path, depth: encoder.depth + 1))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        encoder.nextElement().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.nextElement().unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder.nextElement() }
}

/// A container of one value, which may be a whole structure.
struct SingleField: SingleValueEncodingContainer {
    let encoder: FieldEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { encoder.node.set(.missing) }

    func encode<Value: Encodable>(_ value: Value) throws {
        encoder.node.set(try encoder.builder.tree(of: value, at: encoder.path, depth: encoder.depth + 1))
    }
}
