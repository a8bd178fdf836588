public import Foundation

/// The part of a request that errors show: no secrets, no body.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: ServiceRequest.Method
    /// The URL, user info and secret parameters masked.
    public let url: String
    /// The fields, secrets masked.
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

    /// Method and URL on one line.
    public var line: String { VisibleText.of("\(method) \(url)") }
}

/// The part of a response that errors show.
public struct ResponseSummary: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of body bytes kept: 64 KiB.
    public static let bodyLimit = 64 * 1024

    /// The status code.
    public let status: Int
    /// The fields, secrets masked.
    public let headers: HTTPFields
    /// The URL that answered, user info and secret parameters masked.
    public let url: String
    /// The beginning of the body, at most ``bodyLimit`` bytes.
    public let body: Data
    /// Whether the body has, or may have, more bytes than were kept. A call that fails before the body keeps none.
    public let bodyIsCut: Bool
    let secrets: RequestSecrets?

    /// Creates the summary of a response with the body bytes read so far.
    public init(status: Int, headers: HTTPFields, url: URL, body: Data, isCut: Bool = false) {
        self.init(status: status, headers: headers, url: url, body: body, isCut: isCut, secrets: nil)
    }

    init(status: Int, headers: HTTPFields, url: URL, body: Data, isCut: Bool, secrets: RequestSecrets?) {
        self.status = status
        self.secrets = secrets
        self.headers = RequestSecrets.masked(headers, secrets)
        self.url = SecretMask.text(of: url, of: secrets)
        self.body = body.count > Self.bodyLimit ? Data(body.prefix(Self.bodyLimit)) : body
        bodyIsCut = isCut || body.count > Self.bodyLimit
    }

    /// Status and URL, secrets masked.
    public var description: String { VisibleText.of("\(status) from \(url)") }

    /// The beginning of the body as one line of text for messages, secrets masked. For a binary body, its length.
    public func bodyText(upTo limit: Int) -> String {
        guard !body.isEmpty else { return "" }
        let head = String(decoding: body.prefix(limit), as: UTF8.self)
        guard !head.unicodeScalars.contains(where: { $0.value < 9 }) else { return "\(body.count) bytes that are no text" }
        let (text, isWhole) = SecretMask.beginning(
            ofBody: body, contentType: headers[.contentType], upTo: limit, isCut: bodyIsCut, of: secrets)
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return VisibleText.of(isWhole ? line : line + " …")
    }
}
