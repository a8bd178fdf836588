import Foundation

@testable import WebServiceClient

/// A transport that plays an authorization server: it records the forms that it gets and answers with a closure.
final class AuthorizationServerStub: Transport {
    typealias Answer = @Sendable (_ form: [String: String], _ number: Int) async throws -> TransportResponse

    struct Received: Sendable {
        let request: ServiceRequest
        let form: [String: String]
    }

    let capabilities: TransportCapabilities
    private let received = Locked<[Received]>([])
    private let answer: Answer

    init(capabilities: TransportCapabilities = TransportCapabilities(rawValue: .max), _ answer: @escaping Answer) {
        self.capabilities = capabilities
        self.answer = answer
    }

    var requests: [Received] { received.withLock { $0 } }
    var forms: [[String: String]] { requests.map(\.form) }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let text = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
        let form = Dictionary((URLEncoding.parseForm(text) ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $0 + "," + $1 })
        let number = received.withLock { received in
            received.append(Received(request: request, form: form))
            return received.count - 1
        }
        return try await answer(form, number)
    }
}

extension TransportResponse {
    static func json(_ status: Int, _ text: String) -> TransportResponse {
        .stub(status, ["Content-Type": "application/json"], ResponseBody(Data(text.utf8)))
    }

    static func error(_ code: String, _ status: Int = 400) -> TransportResponse { .json(status, #"{"error":"\#(code)"}"#) }
}

extension OAuthClient {
    static func stub(
        _ server: AuthorizationServerStub, id: String = "shop", _ authentication: Authentication = .none, clock: HandClock? = nil
    ) -> OAuthClient {
        func make() -> OAuthClient {
            var client = OAuthClient(id: id, authentication, tokenEndpoint: "https://login.test/token")
            client.transport = server
            client.deviceAuthorizationEndpoint = "https://login.test/device"
            client.authorizationEndpoint = "https://login.test/authorize"
            client.revocationEndpoint = "https://login.test/revoke"
            return client
        }
        return clock.map { $0.provide(make) } ?? make()
    }
}
