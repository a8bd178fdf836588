import Foundation
import WebServiceClient

/// A client of Stripe's kind: forms with nested values, idempotency keys, lists by cursor, typed errors.
final class Payments: WebServiceClient, @unchecked Sendable {
    struct NewPayment: Encodable, Sendable {
        let amount: Int
        var currency = "eur"
        let paymentMethod: String
        var lineItems: [LineItem] = []
        var metadata: [String: String] = [:]
        var expand: [String] = []

        struct LineItem: Encodable, Sendable {
            let price: String
            let quantity: Int
        }
    }

    struct Payment: Decodable, Sendable {
        let id: String
        let amount: Int
        let created: Date
        let metadata: [String: String]
    }

    /// The body of a failure, at `error`.
    struct Failure: Decodable, Sendable {
        let type: String
        let message: String
        let code: String?
        let declineCode: String?
    }

    override class var endpoints: EndpointTable {
        [
            "pay(_:)": .post("/payments").idempotencyKey(),
            "payments(since:)": .get("/payments").query("created[gte]", .argument("since")).decoding(at: "data")
                .paged(by: .lastID(query: "starting_after", more: "has_more", limit: 100)),
        ]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults(
            headers: ["Stripe-Version": "2026-10-29"], errorHandler: .decoding(Failure.self, at: "error"), serializer: FormSerializer(),
            arrays: .brackets)
    }

    convenience init(root: String = "https://api.stripe.com/v1", key: String) {
        self.init(serviceRoot: root) {
            $0.authenticationProvider = BasicAuthenticationProvider(user: key, password: "")
            $0.serializer = JSONSerializer(dates: .seconds, keys: .snakeCase)
            $0.retry = .standard
            $0.retry.overrules = [.stripeShouldRetry]
        }
    }

    func pay(_ payment: NewPayment) async throws -> Payment { try await call(payment) }
    func payments(since: Date) async throws -> Items<Payment> { try await call(since) }
}
