import Foundation

/// Makes the body of a request from an argument.
struct BodyEncoder {
    let serializer: any SerializationDelegate

    /// The body of a value: bytes as they are, forms as multipart, anything encodable through the serializer.
    ///
    /// - Throws: ``BodyEncodingError``, whose cause is the encoder's own error.
    func body(of value: any Sendable, name: String) throws -> RequestBody {
        switch value {
        case let body as RequestBody:
            return body
        case let data as Data:
            return RequestBody(data, contentType: "application/octet-stream")
        case let form as MultipartForm:
            do {
                return try form.body()
            } catch {
                throw BodyEncodingError(argument: name, cause: error)
            }
        case let encodable as any Encodable:
            do {
                return RequestBody(try serializer.encode(encodable), contentType: serializer.contentType)
            } catch {
                throw BodyEncodingError(argument: name, cause: error)
            }
        default:
            throw ArgumentError(
                argument: name, place: "the body",
                reason: "\(type(of: value)) isn't Encodable; make it so, or pass Data, a RequestBody or a MultipartForm.")
        }
    }
}

/// A body that can't be made from its argument.
public struct BodyEncodingError: Error, Sendable, CustomStringConvertible {
    /// The argument.
    public let argument: String
    /// The encoder's own error.
    public let cause: any Error

    /// Argument and cause.
    public var description: String { "The body can't be made from \(argument): \(ServiceError.text(of: cause))" }
}
