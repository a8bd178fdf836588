import Foundation

@testable import WebServiceClient

/// Signs requests with AWS Signature Version 4, to show that the seam for signing suffices. It learns the difference of the clocks from a
/// refusal.
final class SignatureV4: AuthenticationProvider {
    struct Options: Sendable {
        var keyID = "AKIDEXAMPLE"
        var secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
        var sessionToken: String?
        /// Whether the signature covers the session token. Some services add the token after signing.
        var signsSessionToken = true
        var region = "us-east-1"
        var service = "service"
        /// Whether dot segments and empty segments are removed, and the path is encoded a second time: all services but S3.
        var normalizes = true
        var encodesTwice = true
        /// Whether the hash of the body is sent as a field.
        var sendsBodyHash = false
        var allowsUnsignedBodies = false
        /// The seconds for which a signature in the query is valid; `nil` for one in a field.
        var expiration: Int?
        var date: @Sendable () -> Date = { Date() }
    }

    private let options: Options
    private let offset = Locked(TimeInterval(0))

    init(_ options: Options) {
        self.options = options
    }

    /// The canonical request of the last attempt.
    let canonicalRequest = Locked("")
    let stringToSign = Locked("")

    /// Fields that proxies and engines change.
    private static let unsigned: Set<String> = ["authorization", "user-agent", "expect", "accept", "accept-language", "x-amzn-trace-id"]

    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        let date = Self.text(of: options.date().addingTimeInterval(offset.withLock { $0 }))
        let day = String(date.prefix(8))
        let bodyHash: String
        if let hash = try await attempt.bodySHA256() {
            bodyHash = MessageDigest.hexadecimal(hash)
        } else if options.allowsUnsignedBodies {
            bodyHash = "UNSIGNED-PAYLOAD"
        } else {
            throw AuthenticationError(.bodyNotReplayable, message: "The body must be signed, but can be read only once.")
        }
        let scope = "\(day)/\(options.region)/\(options.service)/aws4_request"
        if options.expiration == nil {
            attempt.request.headers["X-Amz-Date"] = date
            if options.sendsBodyHash { attempt.request.headers["X-Amz-Content-SHA256"] = bodyHash }
            if let token = options.sessionToken { attempt.request.headers["X-Amz-Security-Token"] = token }
        }
        var fields = attempt.sentFields
        if !options.signsSessionToken { fields["X-Amz-Security-Token"] = nil }
        let names = Set(fields.map(\.name.canonicalName)).subtracting(Self.unsigned).sorted()
        let lines = names.map { name in
            let values = fields[values: HTTPFields.Name(name)].map { value in
                value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            return "\(name):\(values.joined(separator: ","))\n"
        }
        let signed = names.joined(separator: ";")
        var later: [(String, String)] = []
        if let expiration = options.expiration {
            var items = [
                ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(options.keyID)/\(scope)"), ("X-Amz-Date", date),
                ("X-Amz-SignedHeaders", signed), ("X-Amz-Expires", String(expiration)),
            ]
            let token = options.sessionToken.map { [("X-Amz-Security-Token", $0)] } ?? []
            if options.signsSessionToken { items += token } else { later = token }
            attempt.request.url = Self.url(attempt.request.url, adding: items)
        }
        let canonical = [
            attempt.request.method.rawValue, path(attempt.request.url), Self.query(attempt.request.url), lines.joined(), signed, bodyHash,
        ].joined(separator: "\n")
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(MessageDigest.hexadecimal(MessageDigest.sha256(of: canonical.utf8)))"
        var key = Array("AWS4\(options.secret)".utf8)
        for part in [day, options.region, options.service, "aws4_request", text] {
            key = MessageDigest.hmacSHA256(of: part.utf8, key: key)
        }
        canonicalRequest.withLock { $0 = canonical }
        stringToSign.withLock { $0 = text }
        let signature = MessageDigest.hexadecimal(key)
        guard options.expiration == nil else {
            attempt.request.url = Self.url(attempt.request.url, adding: later + [("X-Amz-Signature", signature)])
            return
        }
        attempt.request.headers[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(options.keyID)/\(scope), SignedHeaders=\(signed), Signature=\(signature)"
    }

    private static func url(_ url: URL, adding items: [(String, String)]) -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let added = items.map { "\($0.0)=\(URLEncoding.encode($0.1))" }.joined(separator: "&")
        let query = [url.query(percentEncoded: true) ?? "", added].filter { !$0.isEmpty }.joined(separator: "&")
        parts?.percentEncodedQuery = query
        return parts?.url ?? url
    }

    func isRefusal(_ response: TransportResponse, of attempt: AuthenticationAttempt) -> Bool {
        response.status == 403 && response.headers["X-Amzn-ErrorType"] == "RequestTimeTooSkewed"
    }

    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        guard attempt.round == 0, let text = response.headers["Date"], let date = HTTPDate.date(from: text) else { return false }
        offset.withLock { $0 = date.timeIntervalSince(options.date()) }
        try await authorize(&attempt, context: context)
        return true
    }

    private func path(_ url: URL) -> String {
        var path = url.path(percentEncoded: true)
        if path.isEmpty { path = "/" }
        if options.normalizes {
            var segments: [Substring] = []
            for segment in path.split(separator: "/") where segment != "." {
                if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
            }
            path = "/" + segments.joined(separator: "/") + (path.hasSuffix("/") && !segments.isEmpty ? "/" : "")
        }
        return options.encodesTwice ? URLEncoding.encode(path, allowing: .unreserved.union(.init("/"))) : path
    }

    private static func query(_ url: URL) -> String {
        let pairs = (url.query(percentEncoded: true) ?? "").split(separator: "&").map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                URLEncoding.encode(URLEncoding.decode(String($0)) ?? String($0))
            }
            return (halves.first ?? "", halves.count > 1 ? halves[1] : "")
        }
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func text(of date: Date) -> String {
        (ISO8601.text(of: date, fractionDigits: 0) ?? "").filter { $0 != "-" && $0 != ":" }
    }
}
