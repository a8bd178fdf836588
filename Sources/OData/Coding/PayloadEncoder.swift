import WebServiceClient

/// An encoder that builds a payload's value, with members in encoding order.
struct PayloadEncoder: Encoder {
    /// The settings shared by all places of a payload.
    final class Settings {
        let format: PayloadFormat
        let types: TypeRegistry
        /// Whether the result is compared with another: `nil` is encoded as null, and relations are only marked.
        let isDraft: Bool

        /// The user's `userInfo` for encoding.
        let userInfo: [CodingUserInfoKey: Any]

        init(
            _ format: PayloadFormat, types: TypeRegistry = TypeRegistry(), isDraft: Bool = false,
            userInfo: [CodingUserInfoKey: Any] = [:]
        ) {
            self.userInfo = userInfo
            self.format = format
            self.types = types
            self.isDraft = isDraft
        }
    }

    let node: PayloadNode
    let place: PayloadPlace
    let settings: Settings

    var codingPath: [any CodingKey] { place.path }
    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    /// Returns the payload of a value.
    static func payload(of value: any Encodable, _ settings: Settings) throws -> ODataValue {
        try node(of: value, settings).value
    }

    static func node(of value: any Encodable, _ settings: Settings) throws -> PayloadNode {
        let encoder = PayloadEncoder(node: PayloadNode(), place: .top, settings: settings)
        try encoder.encode(value)
        return encoder.node
    }

    func child(_ node: PayloadNode, _ key: any CodingKey) -> PayloadEncoder {
        PayloadEncoder(node: node, place: node.isTooDeep ? place : .key(key, in: place), settings: settings)
    }

    func encode(_ value: some Encodable) throws {
        // Stop the encoding of a value that nests without end.
        guard !node.isTooDeep else {
            let text = "The value nests more than \(ODataValue.depthLimit) levels deep."
            throw EncodingError.invalidValue(ValueText.describable(value), .init(codingPath: codingPath, debugDescription: text))
        }
        guard let writable = value as? any PayloadWritable else {
            if let name = settings.types.derivedName(of: type(of: value)) { writeType(name) }
            return try value.encode(to: self)
        }
        do {
            node.content = .value(try writable.payload(settings.format))
        } catch let refusal as PayloadRefusal {
            throw EncodingError.invalidValue(
                ValueText.describable(value), .init(codingPath: codingPath, debugDescription: refusal.description))
        }
    }

    /// Writes the value's type, for services that would assume the declared one.
    func writeType(_ name: String) {
        node.beObject()
        if settings.format.version == .v2 {
            node.member("__metadata").content = .value(.object(["type": .string(name)]))
        } else {
            node.member(settings.format.controlName("type")).content = .value(.string(settings.format.typeReference(name)))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beObject()
        return KeyedEncodingContainer(PayloadKeyedEncodingContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beArray()
        return PayloadUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        PayloadSingleEncodingContainer(encoder: self)
    }
}

/// A value being encoded.
final class PayloadNode {
    enum Content {
        case value(ODataValue)
        case object([(name: String, node: PayloadNode)])
        case array([PayloadNode])
    }

    var content = Content.value(.object(DynamicEntity()))
    /// Whether it is the value of a relation, which can't be changed as a value.
    var isRelation = false
    /// Whether it may be omitted, which leaves the stored value unchanged.
    var mayBeAbsent = false
    private let depth: Int
    /// Whether something inside was omitted because it nests too deeply.
    private var isCut = false
    /// The members that are omitted because they are `nil`.
    private(set) var leftOut: [String] = []

    func leaveOut(_ name: String) { leftOut.append(name) }

    func beObject() {
        takeApart()
        if case .object = content { return }
        content = .object([])
    }

    /// Splits an object stored as one value into member nodes.
    func takeApart() {
        guard case .value(.object(let object)) = content else { return }
        content = .object(object.properties.map { ($0.name, PayloadNode($0.value, depth: depth + 1)) })
    }

    func beArray() {
        if case .array = content { return }
        content = .array([])
    }

    init() {
        depth = 0
    }

    private init(depth: Int) {
        self.depth = depth
    }

    private init(_ value: ODataValue, depth: Int) {
        content = .value(value)
        self.depth = depth
    }

    /// Whether it exceeds the depth limit; its parent then doesn't keep it.
    var isTooDeep: Bool { depth > ODataValue.depthLimit }

    /// Creates a child node; `isHeld` is false if it is too deep.
    private func inner() -> (node: PayloadNode, isHeld: Bool) {
        let isHeld = depth < ODataValue.depthLimit
        if !isHeld { isCut = true }
        return (PayloadNode(depth: isHeld ? depth + 1 : ODataValue.depthLimit + 1), isHeld)
    }

    /// Creates the node of a member, replacing one of the same name.
    func member(_ name: String) -> PayloadNode {
        let (node, isHeld) = inner()
        guard isHeld else { return node }
        guard case .object(var members) = content else { return node }
        // Release the other reference, to avoid copying the members.
        content = .array([])
        if let position = members.firstIndex(where: { $0.name == name }) {
            members[position].node = node
        } else {
            members.append((name, node))
        }
        content = .object(members)
        return node
    }

    func element() -> PayloadNode {
        let (node, isHeld) = inner()
        guard isHeld else { return node }
        guard case .array(var elements) = content else { return node }
        content = .object([])
        elements.append(node)
        content = .array(elements)
        return node
    }

    var count: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }

    var value: ODataValue {
        guard !isCut else { return .cut }
        return switch content {
        case .value(let value): value
        case .object(let members): .object(DynamicEntity(members.map { DynamicEntity.Property($0.name, $0.node.value) }))
        case .array(let elements): .array(elements.map(\.value))
        }
    }
}
