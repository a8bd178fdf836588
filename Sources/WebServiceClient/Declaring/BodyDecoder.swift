import Foundation

/// Decodes bodies for one endpoint: with parsers by media type, a forced parser, or none.
struct BodyDecoder: Sendable {
    let parsers: SerializationRegistry
    let serializer: any SerializationDelegate
    var parsing: EndpointSettings.Parsing

    /// Whether `Data` or `String` receives the whole body, so that an empty one is valid.
    func takesWhole(_ type: any Any.Type, contentType: String?) -> Bool {
        switch parsing {
        case .byContentType: !serializer.readsInsidePayload(type, contentType: contentType)
        case .forced(let parser): !parser.readsInsidePayload(type, contentType: contentType)
        case .off: true
        }
    }

    /// Decodes a value from a body that isn't empty.
    ///
    /// `Data` and `String` receive the whole body unchanged, unless the serializer finds them inside its payloads. With a root they are
    /// read inside the payload like any other type.
    func value<Value: Decodable>(_ type: Value.Type, from body: Data, contentType: String?, at root: [String], url: URL?) throws -> Value {
        switch parsing {
        case .byContentType:
            return try parsers.decode(type, body: body, contentType: contentType, path: root, forced: nil, fallback: serializer, url: url)
        case .forced(let parser):
            return try parsers.decode(
                type, body: body, contentType: contentType, path: root, forced: parser, fallback: serializer, url: url)
        case .off:
            guard type == Data.self || type == String.self || type == Data?.self || type == String?.self else {
                throw RawEndpointError(type: "\(type)")
            }
            return try parsers.decode(
                type, body: body, contentType: contentType, path: [], forced: RawDataSerializer(), fallback: serializer)
        }
    }
}

/// The error for a value requested from an endpoint that is `.raw()`.
struct RawEndpointError: Error, CustomStringConvertible {
    let type: String

    var description: String { "The endpoint is .raw() and returns Data or String, not \(type): use one of these types, or remove .raw()." }
}
