import Foundation

@testable import WebServiceClient

/// A server that accepts digests and records the counts of its nonces. DigestTests checks the digests against independent values.
final class DigestServer: Sendable {
    struct Settings: Sendable {
        var algorithm: String? = "SHA-256"
        var quality: String? = "auth"
        var password = "Circle of Life"
        /// The number of times a nonce may be used before it is stale.
        var usesOfNonce = UInt32.max
        /// Whether every refusal contains a new nonce. Otherwise all contain the current one.
        var hasFreshNonces = false
        /// Whether a response contains the next nonce.
        var namesNextNonce = false
        /// The quality of protection with which a response proves knowledge of the password; `nil` for none.
        var proof: String?
        var challengeExtras = ""
        /// Whether a digest with an unknown nonce is reported as stale.
        var saysStale = true
        var target = AuthenticationTarget.origin
    }

    private struct State {
        var serial = 0
        var current = "nonce0"
        var issued: Set<String> = ["nonce0"]
        var counts: [String: [UInt32]] = [:]
    }

    private let settings: Settings
    private let state = Locked(State())
    private let body: @Sendable (Data) -> Data

    /// - Parameter body: Transforms the body after the server has computed its proof.
    init(_ settings: Settings = Settings(), body: @escaping @Sendable (Data) -> Data = { $0 }) {
        self.settings = settings
        self.body = body
    }

    static let answer = Data(#"{"ok":true}"#.utf8)

    /// The accepted counts of each nonce.
    var counts: [String: [UInt32]] { state.withLock { $0.counts } }

    /// Forgets all nonces, like an unannounced restart.
    func restart() {
        state.withLock {
            $0.issued = []
            $0.serial += 1
            $0.current = "nonce\($0.serial)"
            $0.issued.insert($0.current)
        }
    }

    func respond(to request: ServiceRequest) async throws -> TransportResponse {
        let challenges = AuthenticationChallenge.challenges(in: request.headers[values: settings.target.credentialsField])
        guard let sent = challenges.first, let nonce = sent["nonce"], let uri = sent["uri"] else { return refusal(isStale: false) }
        let algorithm = DigestAlgorithm(name: settings.algorithm ?? "MD5") ?? DigestAlgorithm(.md5)
        var key = algorithm.function.digest(of: sent["username"] ?? "", sent["realm"] ?? "", settings.password)
        if algorithm.isSession { key = algorithm.function.digest(of: key, nonce, sent["cnonce"] ?? "") }
        let content = try await request.body?.collect(upTo: 1 << 20) ?? Data()
        var fields = [request.method.rawValue, uri]
        if sent["qop"] == "auth-int" { fields.append(BodyDigest.text(of: content, algorithm.function)) }
        let message = digest(algorithm.function, fields)
        let middle = sent["qop"] == nil ? [nonce] : [nonce, sent["nc"] ?? "", sent["cnonce"] ?? "", sent["qop"] ?? ""]
        let isRight = sent["response"] == digest(algorithm.function, [key] + middle + [message]) && sent["qop"] == settings.quality
        let count = UInt32(sent["nc"] ?? "1", radix: 16) ?? 0
        let verdict = state.withLock { state -> Bool? in
            guard state.issued.contains(nonce) else { return isRight && settings.saysStale ? nil : false }
            guard isRight else { return false }
            guard count <= settings.usesOfNonce else { return nil }
            state.counts[nonce, default: []].append(count)
            return true
        }
        guard verdict == true else { return refusal(isStale: verdict == nil) }
        return acceptance(key, nonce, sent, uri, algorithm.function)
    }

    private func digest(_ function: DigestAlgorithm.Function, _ fields: [String]) -> String {
        function.digest(of: fields.joined(separator: ":"))
    }

    private func refusal(isStale: Bool) -> TransportResponse {
        let nonce = state.withLock { state in
            if isStale || settings.hasFreshNonces {
                state.serial += 1
                state.current = "nonce\(state.serial)"
                state.issued.insert(state.current)
            }
            return state.current
        }
        var challenge = "Digest realm=\"r\", nonce=\"\(nonce)\", opaque=\"o\"\(settings.challengeExtras)"
        if let algorithm = settings.algorithm { challenge += ", algorithm=\(algorithm)" }
        if let quality = settings.quality { challenge += ", qop=\"\(quality)\"" }
        if isStale { challenge += ", stale=true" }
        return .stub(settings.target.status, HTTPFields([.init(name: settings.target.challengeField, value: challenge)]))
    }

    private func acceptance(
        _ key: String, _ nonce: String, _ sent: AuthenticationChallenge, _ uri: String, _ function: DigestAlgorithm.Function
    ) -> TransportResponse {
        var info: [String] = []
        if settings.namesNextNonce {
            let next = state.withLock { state in
                state.serial += 1
                state.issued.insert("nonce\(state.serial)")
                return "nonce\(state.serial)"
            }
            info.append("nextnonce=\"\(next)\"")
        }
        if let proof = settings.proof {
            let message = digest(function, proof == "auth-int" ? ["", uri, BodyDigest.text(of: Self.answer, function)] : ["", uri])
            let value = digest(function, [key, nonce, sent["nc"] ?? "", sent["cnonce"] ?? "", proof, message])
            info.append("rspauth=\"\(value)\", qop=\(proof), cnonce=\"\(sent["cnonce"] ?? "")\", nc=\(sent["nc"] ?? "")")
        }
        var headers = HTTPFields()
        if !info.isEmpty { headers[settings.target.infoField] = info.joined(separator: ", ") }
        return .stub(200, headers, ResponseBody(body(Self.answer)))
    }
}
