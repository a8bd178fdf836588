public import Foundation
import WebServiceClient

/// A decoder of OData's JSON, in the formats of all versions and with exact values of every `Edm` type.
///
///     let person = try ODataDecoder().decode(Person.self, from: data)
///
/// Numbers are read exactly, from numbers or strings; `Date`, `Data`, `UUID`, `Decimal` and `Duration` in OData's spelling, of V4 or V2.
/// Foundation's types are limited: a `Date` is rounded to about fifteen digits, and a number of more than 38 digits isn't decoded as
/// `Decimal`. ``EdmDateTimeOffset`` and ``EdmDecimal`` keep all digits. V2's `d`, `results` and `__deferred` are unwrapped, as is a root's
/// `value` around an array or a primitive value, or in V2 the function's name around a result. Properties keep their order; undeclared ones
/// are in ``ODataEntity`` or ``DynamicEntity``.
///
/// The JSON itself is parsed strictly: for example, a duplicate name in an object is an error.
public struct ODataDecoder: Sendable {
    /// The types that ``Polymorphic`` values are decoded as.
    public var types: TypeRegistry
    /// The `Decoder.userInfo` for the types' own decoding.
    public var userInfo: [CodingUserInfoKey: any Sendable]
    /// The URL of the payloads, the base of relative links.
    var url: URL?
    /// The requested version, although payloads may have another. Version 2 has dates without an offset.
    var version: ODataVersion?

    /// Creates a decoder.
    public init(types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.types = types
        self.userInfo = userInfo
    }

    /// Decodes a value from a payload.
    ///
    /// - Throws: `DecodingError`, or an error of the type's own decoding; ``ODataErrorBody`` if the service sent an error after an
    ///   incomplete payload or in place of the value.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(type, from: data, at: [])
    }

    /// Decodes a value from a parsed payload.
    ///
    /// - Throws: The errors of ``decode(_:from:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from root: ODataValue) throws -> Value {
        try decode(type, root: root, at: [])
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String]) throws -> Value {
        // Pages need no tree.
        if path.isEmpty, let page = type as? any PagePayload.Type, let value = try page.read(data, by: self) as? Value { return value }
        if path.isEmpty, let value = plainEntity(type, from: data) { return value.wrapped }
        return try decodeTree(type, from: data, at: path)
    }

    /// Decodes an entity at the root of a payload without a tree of it.
    ///
    /// - Returns: `nil` for other payloads and types, and if the type can't be decoded; the tree then gives the result or the error.
    private func plainEntity<Value: Decodable>(_ type: Value.Type, from data: Data) -> Decoded<Value>? {
        // Version 2 has an envelope around each entity, and versions 3 and 4 around collections.
        guard version != .v2, !(type is any PayloadEnvelope.Type), !(type is any Sequence.Type) else { return nil }
        let context = ContextURL(nil, page: url)
        let settings = PayloadSettings(types: types, context: context, userInfo: userInfo)
        var reader = JSONReader()
        reader.userInfo = userInfo
        reader.dialect = PayloadDialect(settings: settings)
        return try? reader.withNode(of: data) { root in
            guard root.hasOnlyProperties else { return nil }
            let text = PageShape.contextNames.lazy.compactMap { root.member($0)?.text }.first
            // A relative context of the root mustn't be applied again as the entity's own.
            guard text.map({ URLText.Components($0).scheme != nil }) ?? true else { return nil }
            context.text = text
            return Decoded(wrapped: try root.decode(type))
        }
    }

    /// A value that may be an optional.
    private struct Decoded<Value> {
        let wrapped: Value
    }

    /// Decodes from a tree of the whole payload.
    func decodeTree<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String]) throws -> Value {
        let root: ODataValue
        do {
            root = try ODataValue(json: data)
        } catch {
            // A service that fails midway can only break off its output and append the error.
            throw ODataErrorBody(inStream: data) ?? error
        }
        return try decode(type, root: root, at: path)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, root: ODataValue, at path: [String]) throws -> Value {
        if let error = PayloadRoot.error(in: root), type != ODataErrorBody.self, type != ODataValue.self { throw error }
        let context = ContextURL(
            PageShape.context(of: root), page: url, isBeforeVersion4: version == .v2 || PageShape.isBeforeVersion4(root))
        let settings = PayloadSettings(types: types, context: context, userInfo: userInfo)
        var payload = PayloadDecoder(root, settings: settings)
        guard path.isEmpty else {
            for name in path { payload = try payload.descending(to: name) }
            return try payload.decode(type)
        }
        if type is any PayloadEnvelope.Type { return try payload.decode(type) }
        payload = PayloadRoot.inside(payload, for: type)
        if let fault = PayloadRoot.collectionFault(payload, for: type) { throw fault }
        do {
            return try payload.decode(type)
        } catch  where payload.value.isNull {
            throw NullResult.error(type, payload)
        } catch {
            guard let value = PayloadRoot.onlyValue(in: payload, refusedFor: error) else { throw error }
            do {
                return try value.decode(type)
            } catch let inner {
                // If the type can't be read from a value of this kind either, the object is what it was given.
                throw PayloadRoot.isOfKind(inner, at: value) ? error : inner
            }
        }
    }
}

extension JSONNode {
    /// Whether the value is an object with several properties, and neither an envelope nor an error.
    fileprivate var hasOnlyProperties: Bool {
        guard isObject, member("odata.metadata") == nil, !ODataErrorBody.names.contains(where: { member($0) != nil }) else { return false }
        return names.count { ControlInformation.isProperty($0) } > 1
    }

    /// The text if the value is a string.
    fileprivate var text: String? {
        if case .string(let text) = content { text } else { nil }
    }
}

/// The reason for a missing result: the service returned null.
struct NullResult: Error {
    static func error(_ type: any Any.Type, _ payload: PayloadDecoder) -> DecodingError {
        .valueNotFound(
            type,
            .init(
                codingPath: payload.codingPath, debugDescription: "The service says that the result is null.", underlyingError: NullResult()
            ))
    }

    /// Returns whether null is the reason of an error.
    static func isCause(of error: any Error) -> Bool {
        guard case .valueNotFound(_, let context) = error as? DecodingError else { return false }
        return context.underlyingError is NullResult
    }
}

/// A type that decodes the whole payload, including the envelope.
protocol PayloadEnvelope {}

extension ODataValue: PayloadEnvelope {}
extension ODataErrorBody: PayloadEnvelope {}
extension ODataPage: PayloadEnvelope {}

extension PayloadDecoder {
    fileprivate func descending(to name: String) throws -> PayloadDecoder {
        switch value {
        case .object(let object):
            if let member = object[name] { return child(member, JSONKey(name)) }
            // Paths may omit V2's `d`.
            if let data = object["d"]?.object, object.count == 1, let member = data[name] {
                return child(member, JSONKey(name))
            }
        case .array(let elements):
            if let index = Int(name), elements.indices.contains(index) { return child(elements[index], JSONKey(index: index)) }
        default: break
        }
        let names = value.object?.names.prefix(10).map { "'\($0)'" }.joined(separator: ", ") ?? value.kind
        throw DecodingError.keyNotFound(
            JSONKey(name), .init(codingPath: codingPath, debugDescription: "The payload has no '\(name)' there, but \(names)."))
    }
}
