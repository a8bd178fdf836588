import WebServiceClient

/// A service that asks two others.
struct Checkout: Sendable {
    let stock: Stock
    let carrier: Carrier

    struct Offer: Encodable, Sendable {
        let pieces: Int
        let price: Int
    }

    /// Answers a request for an offer: asks both services at the same time, within the trace of the request.
    func offer(for article: String, of incoming: HTTPFields) async throws -> Offer {
        var propagation = TracePropagation(headers: incoming)
        propagation.trace = propagation.trace ?? .random()
        return try await TracePropagation.$current.withValue(propagation) {
            async let level = stock.level(article: article)
            async let quote = carrier.quote(article: article)
            return try await Offer(pieces: level.pieces, price: quote.price)
        }
    }
}

final class Stock: WebServiceClient, @unchecked Sendable {
    struct Level: Decodable, Sendable {
        let pieces: Int
    }

    override class var endpoints: EndpointTable {
        ["level(article:)": .get("/articles/%%article%%").coalesced()]
    }

    func level(article: String) async throws -> Level { try await call(article) }
}

final class Carrier: WebServiceClient, @unchecked Sendable {
    struct Quote: Decodable, Sendable {
        let price: Int
    }

    override class var endpoints: EndpointTable {
        ["quote(article:)": .get("/quotes").query("article", .argument("article")).timeout(.seconds(5))]
    }

    func quote(article: String) async throws -> Quote { try await call(article) }
}

extension ServiceLocator {
    /// Registers the service and the two clients, which follow the environments.
    func registerCheckout(in environments: ServiceEnvironments) throws {
        let common: @Sendable (inout WebServiceClient.Configuration) -> Void = {
            $0.tracing = .service
            $0.retry = .standard
            $0.circuitBreaker = CircuitBreakerPolicy()
            $0.queue = QueueLimits(active: 20, pending: 200)
        }
        try register(Stock.self, in: environments) { Stock(configure: common) }
        try register(Carrier.self, in: environments) { Carrier(configure: common) }
        try register(Checkout.self) { Checkout(stock: try $0.resolve(), carrier: try $0.resolve()) }
    }
}
