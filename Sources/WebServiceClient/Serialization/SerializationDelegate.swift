public import Foundation

/// Turns values into bodies and bodies into values, for one family of formats.
///
/// A conforming type
/// * is stateless or guards its state: it is used by many calls at once;
/// * throws its encoder's or decoder's own error, which reaches the caller as the cause of a ``ServiceError``;
/// * reads a root inside the payload by wire names, without decoding the payload twice.
public protocol SerializationDelegate: Sendable {
    /// The media type of what ``encode(_:)`` makes, with its charset where that matters, such as `application/json`.
    var contentType: String { get }

    /// The bytes of a value.
    func encode(_ value: any Encodable) throws -> Data

    /// A value from bytes.
    ///
    /// - Parameters:
    ///   - type: what to make.
    ///   - data: the body; never empty.
    ///   - path: the wire names that lead to the root inside the payload; empty for the payload itself.
    ///   - contentType: the response's `Content-Type`, if it has one: its charset counts.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value
}
