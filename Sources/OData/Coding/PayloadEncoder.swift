public import Foundation

/// Encodes into a payload's value, members in the order they are encoded.
struct PayloadEncoder: Encoder {
    /// What an encoder brings along to all places in a payload.
    final class Settings {
        let format: PayloadFormat
        let types: TypeRegistry
        /// Whether what is encoded is to be compared: `nil` is written as null, and relations are only noted.
        let isDraft: Bool

        /// What the user gives types along for their encoding.
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

    /// The payload of a value.
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
        // The types' own encoding is stopped before it goes on without end.
        guard !node.isTooDeep else {
            let text = "The value nests more than \(PayloadScanner.depthLimit) levels deep."
            throw EncodingError.invalidValue(value, .init(codingPath: codingPath, debugDescription: text))
        }
        guard let writable = value as? any PayloadWritable else {
            if let name = settings.types.derivedName(of: type(of: value)) { writeType(name) }
            return try value.encode(to: self)
        }
        do {
            node.content = .value(try writable.payload(settings.format))
        } catch let refusal as PayloadRefusal {
            throw EncodingError.invalidValue(value, .init(codingPath: codingPath, debugDescription: refusal.description))
        }
    }

    /// Says of what type the value is, for services that would take it for the declared one.
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

/// A value that is still being encoded.
final class PayloadNode {
    enum Content {
        case value(ODataValue)
        case object([(name: String, node: PayloadNode)])
        case array([PayloadNode])
    }

    var content = Content.value(.object(DynamicEntity()))
    /// Whether it is what a relation leads to, which is changed by other means than its entity's values.
    var isRelation = false
    /// Whether it may be absent, which leaves what there is as it is.
    var mayBeAbsent = false
    private let depth: Int
    /// Whether something in it was left out as it was too deep.
    private var isCut = false
    /// The members that aren't written, since they are `nil`.
    private(set) var leftOut: [String] = []

    func leaveOut(_ name: String) { leftOut.append(name) }

    func beObject() {
        takeApart()
        if case .object = content { return }
        content = .object([])
    }

    /// Makes an object that is one value one of members.
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

    /// Whether it is below what can be written; it isn't held then by the node that it is in.
    var isTooDeep: Bool { depth > PayloadScanner.depthLimit }

    /// The node of what is in this one; `isHeld` is false where that would be too deep.
    private func inner() -> (node: PayloadNode, isHeld: Bool) {
        let isHeld = depth < PayloadScanner.depthLimit
        if !isHeld { isCut = true }
        return (PayloadNode(depth: isHeld ? depth + 1 : PayloadScanner.depthLimit + 1), isHeld)
    }

    /// The node of a member; one of the same name is replaced.
    func member(_ name: String) -> PayloadNode {
        let (node, isHeld) = inner()
        guard isHeld else { return node }
        guard case .object(var members) = content else { return node }
        // Not held twice while it grows.
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

/// Encodes OData's JSON, every `Edm` type as the version spells it.
///
///     let body = try ODataEncoder(.init(version: .v2)).encode(order)
///
/// V2 gets `/Date(…)/`, base64, and texts for `Int64`, `Decimal`, `Double` and `Float`; V4 gets numbers, or texts for the first two where the format
/// is compatible with IEEE 754. Decimals have no exponent. Properties keep the order they are encoded in.
public struct ODataEncoder: Sendable {
    /// How values are spelled.
    public var format: PayloadFormat
    /// The types whose values say what they are, where they derive from another.
    public var types: TypeRegistry
    /// What the types' own encoding finds in `Encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// An encoder.
    public init(
        _ format: PayloadFormat = PayloadFormat(), types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.format = format
        self.types = types
        self.userInfo = userInfo
    }

    /// The payload of a value.
    ///
    /// - Throws: `EncodingError` where the format has no spelling for a value, or what the type's own encoding throws.
    public func encode(_ value: any Encodable) throws -> Data {
        try PayloadWriter.data(payload(of: value))
    }

    /// The payload of a value, before it becomes text.
    ///
    /// - Throws: like ``encode(_:)``.
    public func payload(of value: any Encodable) throws -> ODataValue {
        try PayloadEncoder.payload(of: value, PayloadEncoder.Settings(format, types: types, userInfo: userInfo))
    }
}
