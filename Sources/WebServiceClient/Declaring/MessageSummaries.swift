public import Foundation

/// The part of a request that errors show: everything except secrets and the body.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: ServiceRequest.Method
    /// The URL, with user info and secret parameters masked.
    public let url: String
    /// The header fields, with secrets masked.
    public let headers: HTTPFields
    /// The body's length in bytes; `nil` without a body or if the length is unknown.
    public let bodyLength: Int64?
    let secrets: RequestSecrets?

    /// Creates the summary of a request.
    public init(_ request: ServiceRequest) {
        method = request.method
        secrets = request.secrets
        url = SecretMask.text(of: request)
        headers = RequestSecrets.masked(request.headers, request.secrets)
        bodyLength = request.body?.length
    }

    /// The request's idempotency key, to repeat the call later with the same; `nil` if it has none, or in a field of another name than
    /// services commonly use. See ``IdempotencyKey``.
    public var idempotencyKey: String? {
        let name = HeaderRules.idempotencyKeys.first { headers.contains($0) }
        return name.flatMap { (secrets?.rules ?? .standard).shows($0) ? headers[$0] : nil }
    }

    /// The method and URL on one line.
    public var line: String { VisibleText.of("\(method) \(url)") }
}

/// The part of a response that errors show.
public struct ResponseSummary: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of body bytes kept: 64 KiB.
    public static let bodyLimit = 64 * 1024

    /// The status code.
    public let status: Int
    /// The header fields, with secrets masked.
    public let headers: HTTPFields
    /// The URL of the response, with user info and secret parameters masked.
    public let url: String
    /// The beginning of the body, at most ``bodyLimit`` bytes.
    public let body: Data
    /// Whether the response has, or may have, more body bytes than ``body``. If a call fails before its body is read, ``body`` is empty and
    /// this is `true`.
    public let bodyIsCut: Bool
    /// How long the server asked to wait before the call is repeated, measured from the response: by `Retry-After` (RFC 9110 §10.2.3), or
    /// by a field or a limit that the call's ``RetryPolicy`` knows. `nil` if it didn't.
    public let retryAfter: Duration?
    let secrets: RequestSecrets?

    /// Creates the summary of a response with the body bytes read so far.
    public init(status: Int, headers: HTTPFields, url: URL, body: Data, isCut: Bool = false) {
        self.init(status: status, headers: headers, url: url, body: body, isCut: isCut, secrets: nil)
    }

    init(status: Int, headers: HTTPFields, url: URL, body: Data, isCut: Bool, secrets: RequestSecrets?, askedWait: Duration? = nil) {
        self.status = status
        retryAfter = askedWait ?? RetryAfter.delay(in: headers, limit: .longest)
        self.secrets = secrets
        self.headers = RequestSecrets.masked(headers, secrets)
        self.url = SecretMask.text(of: url, of: secrets)
        self.body = body.count > Self.bodyLimit ? Data(body.prefix(Self.bodyLimit)) : body
        bodyIsCut = isCut || body.count > Self.bodyLimit
    }

    /// The status and URL, with secrets masked.
    public var description: String { VisibleText.of("\(status) from \(url)") }

    /// Returns the beginning of the body as one line of text for messages, with secrets masked. For a binary body, returns a text with its
    /// length.
    public func bodyText(upTo limit: Int) -> String {
        guard !body.isEmpty else { return "" }
        let head = String(decoding: body.prefix(limit), as: UTF8.self)
        guard !head.unicodeScalars.contains(where: { $0.value < 9 }) else { return "\(body.count) bytes that aren't text" }
        let (text, isWhole) = SecretMask.beginning(
            ofBody: body, contentType: headers[.contentType], upTo: limit, isCut: bodyIsCut, of: secrets)
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return VisibleText.of(isWhole ? line : line + " …")
    }
}
