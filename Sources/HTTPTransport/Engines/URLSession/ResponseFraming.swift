import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The description of a body in the response's head: whether there is one, and its length (RFC 9112 §6.3).
struct ResponseFraming: Sendable {
    /// The fields, ordered by name: URLSession doesn't keep their order, and has joined fields with the same name.
    let headers: HTTPFields
    /// Whether a body may follow.
    let hasBody: Bool
    /// The number of bytes that the reader must receive, if the head determines it: not with codings, which URLSession decodes.
    let expectedLength: Int64?

    /// The framing before the head.
    static let unknown = ResponseFraming(headers: [:], hasBody: true, expectedLength: nil)

    private init(headers: HTTPFields, hasBody: Bool, expectedLength: Int64?) {
        self.headers = headers
        self.hasBody = hasBody
        self.expectedLength = expectedLength
    }

    /// Creates the framing of a response to a request with a method.
    init(_ response: HTTPURLResponse, method: ServiceRequest.Method) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPFields.Field? in
            guard let name = name as? String else { return nil }
            return Array((value as? String ?? "\(value)").utf8).withUnsafeBytes { HTTPFields.Field(name: HTTPFields.Name(name), bytes: $0) }
        }
        let headers = HTTPFields(fields.sorted { ($0.name.canonicalName, $0.name.rawName) < ($1.name.canonicalName, $1.name.rawName) })
        self.headers = headers
        let status = response.statusCode
        guard method != .head, status != 204, status != 304, status >= 200 else {
            hasBody = false
            expectedLength = status == 101 ? nil : 0
            return
        }
        let declared = headers[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
        expectedLength = !ContentCoding.isPresent(in: headers) && !headers.contains(.transferEncoding) ? declared : nil
        hasBody = expectedLength != 0
    }

    /// Returns the error for a body that ended after a number of bytes; `nil` if it is complete.
    func fault(received: Int64, host: String) -> TransportError? {
        guard let expectedLength, received != expectedLength else { return nil }
        return TransportError(
            .truncated,
            "The response from \(host) ended after \(received) of \(expectedLength) bytes: the connection broke, or its length is wrong.")
    }
}
