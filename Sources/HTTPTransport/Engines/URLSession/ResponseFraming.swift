import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a response's head says of its body: whether there is one, and how long it is (RFC 9112 §6.3).
struct ResponseFraming: Sendable {
    /// The fields, ordered by name: URLSession keeps no order, and has joined those of one name.
    let headers: HTTPFields
    /// Whether a body may follow.
    let hasBody: Bool
    /// The bytes that the reader must see in the end, if the head tells: not with codings, which URLSession undoes.
    let expectedLength: Int64?

    /// Before there is a head.
    static let unknown = ResponseFraming(headers: [:], hasBody: true, expectedLength: nil)

    private init(headers: HTTPFields, hasBody: Bool, expectedLength: Int64?) {
        self.headers = headers
        self.hasBody = hasBody
        self.expectedLength = expectedLength
    }

    /// The framing of a response to a request of that method.
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
        let coding = headers[.contentEncoding]?.lowercased() ?? "identity"
        let declared = headers[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
        expectedLength = coding == "identity" && !headers.contains(.transferEncoding) ? declared : nil
        hasBody = expectedLength != 0
    }

    /// What is wrong with a body that ended after so many bytes; `nil` when it is whole.
    func fault(received: Int64, host: String) -> TransportError? {
        guard let expectedLength, received != expectedLength else { return nil }
        return TransportError(
            .truncated,
            "The response from \(host) ended after \(received) of \(expectedLength) bytes: the connection broke, or its length is wrong.")
    }
}
