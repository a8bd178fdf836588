import Foundation
import WebServiceTesting

/// Challenges requests without Digest credentials (RFC 7616).
///
/// It checks the form of the credentials, the user, the nonce and the URI. It doesn't compute the digest, so it accepts a wrong password;
/// the provider's own tests verify the digests.
struct DigestGuard: Sendable {
    let user: String
    let realm: String
    private let nonce = UUID().uuidString
    private let opaque = UUID().uuidString

    init(user: String, realm: String) {
        self.user = user
        self.realm = realm
    }

    var loopbackGuard: LoopbackGuard {
        LoopbackGuard { request in
            if accepts(request) { return nil }
            return .unauthorized(#"Digest realm="\#(realm)", qop="auth", algorithm=SHA-256, nonce="\#(nonce)", opaque="\#(opaque)""#)
        }
    }

    private func accepts(_ request: LoopbackRequest) -> Bool {
        guard let field = request.fields["Authorization"], field.hasPrefix("Digest ") else { return false }
        let given = Self.parameters(in: field.dropFirst("Digest ".count))
        return given["username"] == user && given["realm"] == realm && given["nonce"] == nonce && given["opaque"] == opaque
            && given["uri"] == request.target && given["qop"] == "auth" && given["cnonce"]?.isEmpty == false
            && Self.isHex(given["nc"], length: 8) && Self.isHex(given["response"], length: 64)
    }

    /// Returns the parameters by name, without quotes. No value here contains a comma or a quote.
    private static func parameters(in text: Substring) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in text.split(separator: ",") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2 else { continue }
            let name = halves[0].trimmingCharacters(in: .whitespaces)
            parameters[name] = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
        return parameters
    }

    private static func isHex(_ text: String?, length: Int) -> Bool {
        text.map { $0.utf8.count == length && $0.allSatisfy(\.isHexDigit) } ?? false
    }
}
