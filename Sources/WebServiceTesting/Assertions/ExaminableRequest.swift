public import Foundation
public import WebServiceClient

/// A request whose parts the expectations of this module look at: one that a stub recorded, or one that a loopback server received.
public protocol ExaminableRequest: Sendable, CustomStringConvertible {
    /// The method.
    var examinedMethod: String { get }
    /// The URL as far as the receiver knows it: absolute in a stub, path and query on a server.
    var examinedURL: String { get }
    /// The fields.
    var examinedFields: HTTPFields { get }
    /// The body; `nil` or empty without one.
    var examinedBody: Data? { get }
}

extension RecordedRequest: ExaminableRequest {
    /// The method.
    public var examinedMethod: String { request.method.rawValue }
    /// The absolute URL.
    public var examinedURL: String { request.url.absoluteString }
    /// The fields of the request; what the transport would add isn't among them, save the body's own media type.
    public var examinedFields: HTTPFields {
        var fields = request.headers
        if let type = request.body?.contentType, !fields.contains(.contentType) { fields[.contentType] = type }
        return fields
    }
    /// The bytes of the body.
    public var examinedBody: Data? { body }
}

extension LoopbackRequest: ExaminableRequest {
    /// The method.
    public var examinedMethod: String { method }
    /// The request target.
    public var examinedURL: String { target }
    /// The fields as received.
    public var examinedFields: HTTPFields {
        HTTPFields(fields.map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: $0.value) })
    }
    /// The bytes of the body, as far as they were kept.
    public var examinedBody: Data? { body }
}
