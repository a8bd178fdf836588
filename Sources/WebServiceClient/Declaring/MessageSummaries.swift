public import Foundation

/// What an error tells of the request: no secrets, no body.
public struct RequestSummary: Sendable, Hashable {
    /// The method.
    public let method: ServiceRequest.Method
    /// The URL, user info and secret parameters masked.
    public let url: String
    /// The fields, secrets masked.
    public let headers: HTTPFields
    /// The body's length in bytes; `nil` without a body or when it isn't known.
    public let bodyLength: Int64?
    let secrets: RequestSecrets?

    /// The summary of a request.
    public init(_ request: ServiceRequest) {
        method = request.method
        secrets = request.secrets
        url = SecretMask.text(of: request)
        headers = RequestSecrets.masked(request.headers, request.secrets)
        bodyLength = request.body?.length
    }

    /// Method and URL on a line.
    public var line: String { VisibleText.of("\(method) \(url)") }
}

/// What an error tells of the response.
public struct ResponseSummary: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes of a body that are kept: 64 KiB.
    public static let bodyLimit = 64 * 1024

    /// The status code.
    public let status: Int
    /// The fields, secrets masked.
    public let headers: HTTPFields
    /// The URL that answered, user info and secret parameters masked.
    public let url: String
    /// The beginning of the body, at most ``bodyLimit`` bytes.
    public let body: Data
    /// Whether there is, or may be, more of the body than what was kept: nothing was read of one when the call failed before.
    public let bodyIsCut: Bool
    let secrets: RequestSecrets?

    /// The summary of a response with what was read of its body.
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

    /// The beginning of the body as text on one line, for messages, secrets masked; binary bodies are told by their length.
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
