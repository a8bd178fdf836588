import Foundation
import WebServiceClient

/// Digest authentication of a request after the server's challenge: only the computation, without a server.
public struct DigestWork: Sendable {
    private let provider: DigestAuthenticationProvider
    private let attempt: AuthenticationAttempt
    private let context = CallContext()

    /// Creates a provider that has received a challenge with an algorithm, such as `MD5` or `SHA-256`.
    public init(algorithm: String) async throws {
        provider = DigestAuthenticationProvider(user: "ada", password: "a secret of some length")
        guard let url = URL(string: "https://api.example.com/v1/repos/swiftlang/swift?page=2") else { throw URLError(.badURL) }
        let request = ServiceRequest(url: url)
        attempt = AuthenticationAttempt(request: request, target: .origin)
        let challenge = AuthenticationChallenge(
            scheme: "Digest",
            parameters: [
                .init(name: "realm", value: "example"), .init(name: "qop", value: "auth"), .init(name: "algorithm", value: algorithm),
                .init(name: "nonce", value: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"),
                .init(name: "opaque", value: "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"),
            ])
        var first = attempt
        _ = try await provider.respond(
            to: [challenge], response: TransportResponse(status: 401, url: url), attempt: &first, context: context)
    }

    /// Authorizes a request and returns the field.
    public func authorize() async throws -> String? {
        var attempt = attempt
        try await provider.authorize(&attempt, context: context)
        return attempt.request.headers[.authorization]
    }
}
