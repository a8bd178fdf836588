public import Foundation
import WebServiceClient

/// A request and its response, as written by ``RecordingTransport`` and read by ``ReplayTransport``.
public struct RecordedExchange: Sendable, Hashable, Codable {
    /// A header field.
    public struct Field: Sendable, Hashable, Codable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String
    }

    /// A body, as text if it is UTF-8, otherwise as Base64. An empty body is omitted.
    public struct Body: Sendable, Hashable, Codable {
        /// The body as text.
        public var text: String?
        /// The body in Base64.
        public var base64: String?

        package init?(_ data: Data?) {
            guard let data, !data.isEmpty else { return nil }
            text = String(data: data, encoding: .utf8)
            base64 = text == nil ? data.base64EncodedString() : nil
        }

        /// The bytes; `nil` if the Base64 is invalid.
        public var data: Data? {
            text.map { Data($0.utf8) } ?? base64.flatMap { Data(base64Encoded: $0) }
        }
    }

    /// The key of the endpoint.
    public var key: String
    /// The method.
    public var method: String
    /// The absolute URL, with user info and secret query items masked.
    public var url: String
    /// The fields of the request, with secrets masked.
    public var requestFields: [Field]
    /// The body of the request, with secret members masked.
    public var requestBody: Body?
    /// The status.
    public var status: Int
    /// The fields of the response, with secrets masked.
    public var responseFields: [Field]
    /// The body of the response, with secret members masked.
    public var responseBody: Body?

    init(_ recorded: RecordedRequest, status: Int, headers: HTTPFields, body: Data) {
        key = recorded.key
        method = recorded.request.method.rawValue
        url = SecretMask.text(of: recorded.request)
        let fields = recorded.examinedFields
        requestFields = Self.masked(fields)
        requestBody = Body(recorded.body.map { BodyMask.masked($0, type: fields[.contentType]) })
        self.status = status
        responseFields = Self.masked(headers)
        responseBody = Body(BodyMask.masked(body, type: headers[.contentType]))
    }

    private static func masked(_ fields: HTTPFields) -> [Field] {
        fields.map { Field(name: $0.name.rawName, value: SecretMask.recordedText(of: $0)) }
    }

    /// The properties that a replayed request must share with this one: key, method, path and query.
    var signature: String {
        // Masked again, because a recording may predate a masking rule.
        Self.signature(key: key, method: method, url: SecretMask.text(ofURL: url))
    }

    static func signature(key: String, method: String, url: String) -> String {
        let target = RequestTarget(Array(url.utf8))
        let query = target.query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(key) \(method) \(String(decoding: target.path, as: UTF8.self))\(query)"
    }
}
