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

    /// The same for a body that came from a URL, which formats need whose links are relative to it. By default the URL plays no part.
    ///
    /// - Parameter url: where the response came from, after redirects; `nil` where that isn't known.
    func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value

    /// Whether `Data` and `String` (and their optionals) are values inside the payload and not the whole body. By default they aren't.
    ///
    /// - Parameters:
    ///   - type: `Data`, `String` or an optional of these.
    ///   - contentType: the response's `Content-Type`, if it has one.
    func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool
}

extension SerializationDelegate {
    /// A value from bytes, wherever they came from.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value {
        try decode(type, from: data, at: path, contentType: contentType)
    }

    /// `Data` and `String` are the whole body.
    public func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool { false }
}
