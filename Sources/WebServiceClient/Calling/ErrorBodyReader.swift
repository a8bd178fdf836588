import Foundation

/// Decodes the body of a failure later, as its endpoint would.
///
/// A class, since errors are copied often and most bodies are never decoded.
final class ErrorBodyReader: Sendable {
    private let decoder: BodyDecoder
    private let problems: ProblemReading
    private let url: URL

    init(_ endpoint: ResolvedEndpoint, _ attributes: EndpointAttributes, url: URL) {
        decoder = endpoint.decoder
        problems = attributes[ProblemReading.self] ?? .standard
        self.url = url
    }

    func value<Value: Decodable>(
        _ type: Value.Type, from body: Data, _ status: Int, _ headers: HTTPFields, at path: String
    ) -> Value? {
        let response = HandledResponse(status: status, headers: headers, url: url, body: body, decoder: decoder)
        return try? response.decode(type, at: path)
    }

    func problem(_ status: Int, _ body: Data, contentType: String?) -> ProblemDetails? {
        guard (400...599).contains(status) else { return nil }
        return problems.problem(in: body, contentType: contentType)
    }
}

extension ServiceError {
    /// Returns the body of the response, or the data of an event that ended a stream, as a value; `nil` if there is none, or it has another
    /// form.
    ///
    ///     } catch let error as ServiceError {
    ///         if let body = error.body(as: GitHubError.self) { show(body.message) }
    ///     }
    ///
    /// If the error handler decoded a value of the type, that value is returned. Otherwise the endpoint's decoder reads the body, up to
    /// ``ResponseSummary/bodyLimit``, or the data of the event that reported the error. To decode all failures of a class, and to begin
    /// each error's message with the service's message, use ``ErrorBodyHandler``.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - path: The wire names that lead to the value inside the body, separated by dots.
    public func body<Body: Decodable>(as type: Body.Type = Body.self, at path: String = "") -> Body? {
        if path.isEmpty, let known = errorBody as? Body { return known }
        guard let response else { return nil }
        var (body, headers) = (response.body, response.headers)
        // The response's Content-Type is that of the stream.
        if let event = errorBody as? ServerEvent { (body, headers) = (Data(event.data.utf8), [:]) }
        guard !body.isEmpty else { return nil }
        if let bodyReader { return bodyReader.value(type, from: body, response.status, headers, at: path) }
        return try? SerializationRegistry.standard.decode(
            type, body: body, contentType: headers[.contentType], path: EndpointSettings.components(of: path), fallback: JSONSerializer())
    }

    /// The problem details (RFC 9457) in the body of the response; `nil` if it has none. Which bodies are read is a setting:
    /// ``ProblemReading``.
    public var problem: ProblemDetails? {
        guard let response else { return nil }
        let type = response.headers[.contentType]
        guard let bodyReader else {
            return (400...599).contains(response.status)
                ? ProblemReading.standard.problem(in: response.body, contentType: type) : nil
        }
        return bodyReader.problem(response.status, response.body, contentType: type)
    }
}

// Conditional requests (RFC 9110 §13).
extension ServiceResponse {
    /// The entity tag of the response (RFC 9110 §8.8.3), such as `"v7"` with its quotation marks; `nil` if it has none. Send it back
    /// unchanged with ``ServiceCall/ifMatch(_:)``.
    public var entityTag: String? { headers[.entityTag] }
}

extension ServiceError {
    /// The entity tag that the failed response has, such as the current one of a 412; `nil` if it has none.
    public var entityTag: String? { response?.headers[.entityTag] }
}

extension ServiceCall {
    /// Sends `If-Match` (RFC 9110 §13.1.1): the change is made only if the resource still has the entity tag. Otherwise the call fails with
    /// the status 412, and ``ServiceError/entityTag`` has the current tag if the service sends it. `nil` sends no condition.
    ///
    /// - Parameter tag: The tag as received, with its quotation marks, or `*` for any existing resource.
    public func ifMatch(_ tag: String?) -> ServiceCall { header("If-Match", tag) }

    /// Sends `If-None-Match` (RFC 9110 §13.1.2): a GET with an optional result gives `nil` while the resource has the entity tag; a PUT
    /// with `*` only creates. `nil` sends no condition.
    ///
    /// - Parameter tag: The tag as received, with its quotation marks, or `*` for no resource.
    public func ifNoneMatch(_ tag: String?) -> ServiceCall { header("If-None-Match", tag) }
}
