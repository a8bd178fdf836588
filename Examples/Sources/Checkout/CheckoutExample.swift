import Foundation
import WebServiceClient
import WebServiceTesting

enum CheckoutExample: Example {
    static let name = "checkout"
    static let summary = "a service that calls two others: locator, environments, one trace"

    static func run() async throws {
        let (production, staging) = (try upstream(price: 490), try upstream(price: 1))
        let environments = try ServiceEnvironments(
            [("production", production), ("staging", staging)].map { name, server in
                let root = server.url.absoluteString
                return ServiceEnvironment(name, serviceRoots: ["Stock": root + "/stock", "Carrier": root + "/carrier"])
            })
        let locator = ServiceLocator()
        try locator.registerCheckout(in: environments)

        // A server of any kind, whose handlers resolve what they need.
        let front = try LoopbackServer { routes in
            routes.get("/offers/:article") { request in
                let checkout: Checkout = try locator.resolve()
                let fields = HTTPFields(request.fields.map { HTTPFields.Field(name: .init($0.name), value: $0.value) })
                do {
                    return try .encoded(await checkout.offer(for: request.parameters["article"] ?? "", of: fields))
                } catch let error as ServiceError {
                    return .text(error.message, status: error.status == 404 ? 404 : 502)
                }
            }
        }

        // A request with a trace. Both services get the trace, and each request has a span of its own. One of them is busy at first.
        let trace = TraceContext.random()
        let browser = WebServiceClient(serviceRoot: front.url.absoluteString) { $0.tracing = .service }
        let offer = try await TracePropagation.$current.withValue(TracePropagation(trace: trace)) {
            try await browser.http.get("/offers/%%0%%", "tea").value([String: Int].self)
        }
        let parents = production.requests.compactMap { $0.fields["traceparent"] }.compactMap { TraceContext(traceparent: $0) }
        ExampleRun.show("one request, \(parents.count) requests of two services in the trace \(trace.traceID)")
        try ExampleRun.expect(offer == ["pieces": 12, "price": 490], "the offer, found \(offer)")
        try ExampleRun.expect(parents.count == 3 && parents.allSatisfy { $0.traceID == trace.traceID }, "three requests in the trace")
        try ExampleRun.expect(Set(parents.map(\.spanID)).count == 3, "three spans")

        // The failure of one service is the failure of the request.
        let failure = try await ExampleRun.failure(ServiceError.self) { try await browser.http.get("/offers/%%0%%", "anvil").send() }
        ExampleRun.show(failure.response.map { String(decoding: $0.body, as: UTF8.self) } ?? "")
        try ExampleRun.expect(failure.status == 404, "404, found \(failure)")

        // The other environment, for both clients at once.
        try environments.switchTo("staging")
        let other = try await browser.http.get("/offers/%%0%%", "tea").value([String: Int].self)
        ExampleRun.show("in staging, the price is \(other["price"] ?? 0)")
        try ExampleRun.expect(other["price"] == 1 && staging.requests.count == 3, "the offer of staging, found \(other)")
    }

    /// Both services of an environment.
    private static func upstream(price: Int) throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.get("/stock/articles/tea") { _ in .json(#"{"pieces": 12}"#) }
            routes.get("/stock/articles/:article") { _ in
                .data(Data(#"{"title": "No such article"}"#.utf8), type: "application/problem+json", status: 404)
            }
            routes.on("GET", "/carrier/quotes", inTurn: [.status(503).with("Retry-After", "0"), .json(#"{"price": \#(price)}"#)])
        }
    }
}
