import Foundation

/// Reads values from bodies as one endpoint wants it: parsers by media type, a forced one, or none.
struct BodyDecoder: Sendable {
    let parsers: SerializationRegistry
    let serializer: any SerializationDelegate
    var parsing: EndpointSettings.Parsing

    /// Whether `Data` or `String` is the whole of a body, so that it may be empty.
    func takesWhole(_ type: any Any.Type, contentType: String?) -> Bool {
        switch parsing {
        case .byContentType: !serializer.readsInsidePayload(type, contentType: contentType)
        case .forced(let parser): !parser.readsInsidePayload(type, contentType: contentType)
        case .off: true
        }
    }

    /// A value from a body that isn't empty.
    ///
    /// `Data` and `String` take the whole body as it is, unless the serializer finds them inside its payloads; with a root they are read
    /// inside the payload like any other type.
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

/// A value was asked of an endpoint that is `.raw()`.
struct RawEndpointError: Error, CustomStringConvertible {
    let type: String

    var description: String { "The endpoint is .raw() and gives Data or String, not \(type): ask for one of these, or take .raw() away." }
}
