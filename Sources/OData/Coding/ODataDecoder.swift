public import Foundation
import WebServiceClient

/// Decodes OData's JSON: every version's shapes, every `Edm` type exactly.
///
///     let person = try ODataDecoder().decode(Person.self, from: data)
///
/// Numbers are read by their digits, from numbers or texts; `Date`, `Data`, `UUID`, `Decimal` and `Duration` as OData spells them, in V4 or V2.
/// Where Foundation's types hold less than what is there, they are bounded: a `Date` to some fifteen digits, a `Decimal` to 38, beyond which it is an
/// error; ``EdmDateTimeOffset`` and ``EdmDecimal`` hold all. V2's `d`, `results` and `__deferred` are looked through, and a root's `value`
/// where an array or a primitive is wanted, or in V2 the function's name around a result. Properties keep their order, and those that no type declares stay in ``ODataEntity`` or ``DynamicEntity``.
///
/// The JSON itself is read strictly: a name twice in one object, for one, is an error.
public struct ODataDecoder: Sendable {
    /// The types that ``Polymorphic`` values are decoded as.
    public var types: TypeRegistry
    /// What the types' own decoding finds in `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]
    /// Where the payloads come from, which relative links begin at.
    var url: URL?
    /// The version that was asked for; payloads may be of another. Version 2 has points in time without an offset.
    var version: ODataVersion?

    /// A decoder.
    public init(types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.types = types
        self.userInfo = userInfo
    }

    /// A value of a payload.
    ///
    /// - Throws: `DecodingError`, or what the type's own decoding throws; ``ODataErrorBody`` where the service broke off with an error, or put
    ///   one in place of the value.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(type, from: data, at: [])
    }

    /// A value of a payload that was read before.
    ///
    /// - Throws: like ``decode(_:from:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from root: ODataValue) throws -> Value {
        try decode(type, root: root, at: [])
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String]) throws -> Value {
        // Pages need no tree. What isn't read so is left to it to say what is wrong.
        if path.isEmpty, let page = type as? any PagePayload.Type, let value = try? page.read(data, by: self) as? Value { return value }
        return try decodeTree(type, from: data, at: path)
    }

    /// By a tree of the whole payload.
    func decodeTree<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String]) throws -> Value {
        let root: ODataValue
        do {
            root = try PayloadScanner.value(of: data)
        } catch {
            // A service that fails midway can only break off, and says why at the end.
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
        do {
            return try payload.decode(type)
        } catch  where payload.value.isNull {
            throw NullResult.error(type, payload)
        }
    }
}

/// Why a result isn't there: the service says that it is null.
struct NullResult: Error {
    static func error(_ type: any Any.Type, _ payload: PayloadDecoder) -> DecodingError {
        .valueNotFound(
            type,
            .init(
                codingPath: payload.codingPath, debugDescription: "The service says that the result is null.", underlyingError: NullResult()
            ))
    }

    /// Whether an error says so.
    static func isCause(of error: any Error) -> Bool {
        guard case .valueNotFound(_, let context) = error as? DecodingError else { return false }
        return context.underlyingError is NullResult
    }
}

/// Types that read the whole payload with what is around their values.
protocol PayloadEnvelope {}

extension ODataValue: PayloadEnvelope {}
extension ODataErrorBody: PayloadEnvelope {}
extension ODataPage: PayloadEnvelope {}

extension PayloadDecoder {
    fileprivate func descending(to name: String) throws -> PayloadDecoder {
        switch value {
        case .object(let object):
            if let member = object[name] { return child(member, JSONKey(name)) }
            // V2's `d` needs no mention.
            if let data = object["d"]?.object, object.properties.count == 1, let member = data[name] {
                return child(member, JSONKey(name))
            }
        case .array(let elements):
            if let index = Int(name), elements.indices.contains(index) { return child(elements[index], JSONKey(index: index)) }
        default: break
        }
        let names = value.object?.properties.prefix(10).map { "'\($0.name)'" }.joined(separator: ", ") ?? value.kind
        throw DecodingError.keyNotFound(
            JSONKey(name), .init(codingPath: codingPath, debugDescription: "The payload has no '\(name)' there, but \(names)."))
    }
}
