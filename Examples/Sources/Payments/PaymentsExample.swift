import Foundation
import WebServiceClient
import WebServiceTesting

enum PaymentsExample: Example {
    static let name = "payments"
    static let summary = "form-encoded payments with idempotency keys, as Stripe has them"

    static func run() async throws {
        let service = PaymentService()
        let server = try service.start()
        let payments = Payments(root: server.url.absoluteString + "/v1", key: "sk_test")

        // The connection is lost after the service has booked the payment. The repeat has the same key, so it is booked once.
        let order = Payments.NewPayment(
            amount: 4200, paymentMethod: "pm_card", lineItems: [.init(price: "tea", quantity: 2), .init(price: "milk", quantity: 1)],
            metadata: ["order": "7"], expand: ["customer", "invoice"])
        let payment = try await payments.pay(order)
        let sent = server.requests
        ExampleRun.show("\(payment.id) over \(payment.amount) after \(sent.count) requests with one key")
        let keys = Set(sent.map { $0.fields["Idempotency-Key"] ?? "" })
        try ExampleRun.expect(sent.count == 2 && keys.count == 1 && keys != [""], "a repeat with the same key")
        try ExampleRun.expect(service.booked == 1 && payment.metadata["order"] == "7", "one payment")
        try ExampleRun.expect(payment.created == Date(timeIntervalSince1970: 1_795_694_400), "the date, not \(payment.created)")
        try ExampleRun.expect(
            sent[0].text.removingPercentEncoding == "amount=4200&currency=eur&payment_method=pm_card&line_items[0][price]=tea"
                + "&line_items[0][quantity]=2&line_items[1][price]=milk&line_items[1][quantity]=1&metadata[order]=7"
                + "&expand[]=customer&expand[]=invoice", "the form, not \(sent[0].text)")

        // A key of the program's own: the program may end and call again without paying twice.
        let first = try await payments.with(.idempotencyKey("order-8")) { try await $0.pay(order) }
        let second = try await payments.with(.idempotencyKey("order-8")) { try await $0.pay(order) }
        try ExampleRun.expect(first.id == second.id && service.booked == 2, "the same payment, found \(first.id) and \(second.id)")

        // A declined card is a typed error, and isn't tried again.
        let declined = try await ExampleRun.failure(ServiceError.self) {
            _ = try await payments.pay(.init(amount: 100, paymentMethod: "pm_declined"))
        }
        let reason = declined.body(as: Payments.Failure.self)
        ExampleRun.show(declined.message)
        try ExampleRun.expect(declined.status == 402 && reason?.declineCode == "insufficient_funds", "the reason, found \(declined)")
        try ExampleRun.expect(server.requests.count == 5, "no repeat of a declined payment")

        // The list of all payments, 100 per request.
        service.book(248)
        server.forgetRequests()
        let total = try await payments.payments(since: Date(timeIntervalSince1970: 1_700_000_000)).reduce(0) { $0 + $1.amount }
        ExampleRun.show("\(service.booked) payments over \(total) in \(server.requests.count) pages")
        try ExampleRun.expect(total == 2 * 4200 + 248 && server.requests.count == 3, "all payments in three pages")
        try ExampleRun.expect(
            server.requests[2].query?.removingPercentEncoding == "created[gte]=1700000000&limit=100&starting_after=pay_200",
            "not \(server.requests[2].query ?? "")")
    }
}

/// A list of payments that keeps the answers by idempotency key.
private final class PaymentService: Sendable {
    private struct State {
        var payments: [String] = []
        var answers: [String: String] = [:]
        var lost = false
    }

    private let state = Guarded(State())

    var booked: Int { state.withLock { $0.payments.count } }

    func book(_ count: Int) {
        for _ in 0..<count { state.withLock { _ = Self.book("1", order: nil, in: &$0) } }
    }

    private static func book(_ amount: String, order: String?, in state: inout State) -> String {
        let metadata = order.map { #"{"order": "\#($0)"}"# } ?? "{}"
        state.payments.append(
            #"{"id": "pay_\#(state.payments.count + 1)", "amount": \#(amount), "created": 1795694400, "metadata": \#(metadata)}"#)
        return state.payments[state.payments.count - 1]
    }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.guarded(by: .basicAuthentication(user: "sk_test", password: "", realm: "payments")) { routes in
                routes.on("POST", "/v1/payments") { self.pay($0) }
                routes.get("/v1/payments") { self.list($0) }
            }
        }
    }

    private func pay(_ request: LoopbackRequest) -> LoopbackResponse {
        let form = Dictionary(request.formItems.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        if form["payment_method"] == "pm_declined" {
            return .json(
                #"{"error": {"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds", "#
                    + #""message": "Your card has insufficient funds."}}"#, status: 402)
        }
        let (answer, isLost) = state.withLock { state in
            let key = request.fields["Idempotency-Key"] ?? ""
            let answer = state.answers[key] ?? Self.book(form["amount"] ?? "", order: form["metadata[order]"], in: &state)
            state.answers[key] = answer
            defer { state.lost = true }
            return (answer, !state.lost)
        }
        return isLost ? .drop : .json(answer)
    }

    private func list(_ request: LoopbackRequest) -> LoopbackResponse {
        let limit = request.queryValue("limit").flatMap { Int($0) } ?? 10
        let after = request.queryValue("starting_after").flatMap { Int($0.dropFirst(4)) } ?? 0
        let payments = state.withLock { $0.payments }
        let page = payments.dropFirst(after).prefix(limit).joined(separator: ", ")
        return .json(#"{"object": "list", "data": [\#(page)], "has_more": \#(after + limit < payments.count)}"#)
    }
}
