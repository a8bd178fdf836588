public import Foundation

/// The information that a user needs to sign in on another device (RFC 8628 §3.2).
public struct DevicePrompt: Sendable, Hashable {
    /// The code to enter.
    public let userCode: String
    /// The address to open.
    public let verificationURL: URL
    /// The address with the code in it, such as for a QR code; `nil` if the server has none.
    public let completeURL: URL?
    /// The time for which the code is valid.
    public let lifetime: Duration
}

/// The device flow (RFC 8628): requests the codes, shows them, and polls until the user has signed in or the codes expire.
struct DeviceAuthorization: Sendable {
    let client: OAuthClient
    let scopes: [String]

    /// The interval of polling that the RFC defines for servers that send none, and its increment after `slow_down` (§3.2, §3.5).
    private static let interval = Duration.seconds(5)
    /// The maximum time between two requests.
    private static let longestInterval = Duration.seconds(300)

    /// The server's response to the first request.
    private struct Codes {
        let device: String
        let prompt: DevicePrompt
        let interval: Duration
    }

    func token(_ prompt: @Sendable (DevicePrompt) async throws -> Void) async throws -> BearerToken {
        let clock = client.clock
        let codes = try await codes()
        let end = clock.now().advanced(by: codes.prompt.lifetime)
        try await prompt(codes.prompt)
        var interval = codes.interval
        while true {
            try await clock.sleep(interval, unless: CallCancellation())
            guard clock.now() < end else { break }
            do {
                return try await client.token([
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", codes.device),
                ])
            } catch let error as OAuthError where error.code == .authorizationPending {
                continue
            } catch let error as OAuthError where error.code == .slowDown {
                interval += Self.interval
            } catch let error as TransportError where !error.isTrustFailure && error.code != .unsupported {
                // RFC 8628 §3.5 requires exponential backoff after a time-out.
                interval *= 2
            } catch let error as OAuthError where Self.isTemporary(error) {
                interval = max(interval * 2, error.retryAfter ?? .zero)
            }
            interval = min(interval, Self.longestInterval)
        }
        throw OAuthError(.expiredToken, detail: "The user didn't sign in before the code expired: sign in again for another code.")
    }

    private static func isTemporary(_ error: OAuthError) -> Bool {
        guard let status = error.status else { return false }
        return status >= 500 || status == 429
    }

    private func codes() async throws -> Codes {
        guard let endpoint = client.deviceAuthorizationEndpoint else {
            throw OAuthError(.badEndpoint, detail: "The OAuth client has no deviceAuthorizationEndpoint. Set it.")
        }
        var form = [(String, String)]()
        if !scopes.isEmpty { form.append(("scope", scopes.joined(separator: " "))) }
        let name = "device authorization endpoint"
        form += client.parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        // RFC 8628 §3.1 requires the identifier, also of clients that authenticate.
        switch client.authentication.method {
        case .basic: form.append(("client_id", client.id))
        case .none, .body, .mutualTLS, .assertion: break
        }
        let (status, answer) = try await client.post(form, to: endpoint, named: name, secrets: [])
        // Some servers have the older name of the draft.
        guard let device = answer["device_code"]?.text, let code = answer["user_code"]?.text,
            let url = Self.page(answer["verification_uri"] ?? answer["verification_url"])
        else {
            throw OAuthError(
                .unreadableAnswer, status: status, detail: "The answer of the \(name) has no device_code, user_code or verification_uri.")
        }
        let lifetime = answer["expires_in"]?.number.flatMap(BearerToken.lifetime(ofSeconds:)) ?? .seconds(300)
        let interval = answer["interval"]?.number.flatMap(BearerToken.lifetime(ofSeconds:)) ?? Self.interval
        return Codes(
            device: device,
            prompt: DevicePrompt(
                userCode: VisibleText.of(code), verificationURL: url, completeURL: Self.page(answer["verification_uri_complete"]),
                lifetime: min(lifetime, .seconds(30 * 60))),
            interval: min(max(.seconds(1), interval), Self.longestInterval))
    }

    /// A page to show to the user: no other scheme than http and https.
    private static func page(_ member: OAuthClient.Member?) -> URL? {
        guard let url = member?.text.flatMap({ URL(string: $0) }), let origin = Origin(url) else { return nil }
        return origin.scheme == "https" || origin.scheme == "http" ? url : nil
    }
}
