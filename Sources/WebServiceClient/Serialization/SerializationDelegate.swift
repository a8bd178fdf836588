public import Foundation

/// Converts values to bodies and bodies to values, for one family of formats.
///
/// A conforming type
/// * is stateless or guards its state, since many calls use it concurrently;
/// * throws its encoder's or decoder's own error, which reaches the caller as the cause of a ``ServiceError``;
/// * reads a root inside the payload by wire names, without decoding the payload twice.
public protocol SerializationDelegate: Sendable {
    /// The media type of the output of ``encode(_:)``, with its charset if that matters, such as `application/json`.
    var contentType: String { get }

    /// Encodes a value.
    func encode(_ value: any Encodable) throws -> Data

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - data: The body; never empty.
    ///   - path: The wire names that lead to the root inside the payload; empty for the payload itself.
    ///   - contentType: The response's `Content-Type`, if it has one; its charset applies.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value

    /// Decodes a value from a body with a known URL, for formats with relative links. The default implementation ignores the URL.
    ///
    /// - Parameter url: The URL of the response, after redirects; `nil` if unknown.
    func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value

    /// Returns whether `Data` and `String` (and their optionals) are values inside the payload rather than the whole body. The default is
    /// false.
    ///
    /// - Parameters:
    ///   - type: `Data`, `String` or an optional of these.
    ///   - contentType: The response's `Content-Type`, if it has one.
    func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool
}

extension SerializationDelegate {
    /// Decodes a value, ignoring the URL.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value {
        try decode(type, from: data, at: path, contentType: contentType)
    }

    /// Returns false: `Data` and `String` are the whole body.
    public func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool { false }
}
