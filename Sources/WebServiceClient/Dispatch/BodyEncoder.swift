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
                var data = try serializer.encode(encodable)
                let hasUnorderedKeys = (serializer as? JSONSerializer)?.hasUnorderedKeys ?? false
                // What a dry run gives is compared with what an earlier one gave. Here, and not at its end: preparers may sign the body.
                if hasUnorderedKeys, DryRun.current != nil { data = JSONKeyOrder.sorted(data) }
                var body = RequestBody(data, contentType: serializer.contentType)
                body.hasUnorderedKeys = hasUnorderedKeys
                return body
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
public struct BodyEncodingError: DescribedError, Sendable {
    /// The argument.
    public let argument: String
    /// The encoder's own error.
    public let cause: any Error

    /// Argument and cause.
    public var description: String { "The body can't be made from \(argument): \(ServiceError.text(of: cause))" }
}
