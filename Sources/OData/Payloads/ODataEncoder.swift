public import Foundation

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
