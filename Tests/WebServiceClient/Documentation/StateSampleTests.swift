import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the articles on sessions, environments and the service locator.

private struct DeskLogin: Decodable, Sendable {
    let id: String
    let tenant: String
}

private final class Desk: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "logIn(user:password:)": .post("/login").header("X-User", "%%user%%").header("X-Password", "%%password%%").withoutBody(),
            "tickets()": .get("/tickets"),
        ]
    }

    func logIn(user: String, password: String) async throws -> DeskLogin { try await call(user, password) }
    func tickets() async throws -> [String] { try await call() }
}

private protocol Weather: Sendable {
    var isSunny: Bool { get }
}

private struct Clock: Sendable {}

private struct OpenWeather: Weather {
    let clock: Clock
    let isSunny = false
}

private struct Sunshine: Weather {
    let isSunny = true
}

private protocol Delegate: Sendable {}
private final class Window: Delegate {}

private struct Visit: Sendable {
    let clock: Clock
}

private final class Orders: Sendable {
    let cart: Cart
    private let count = Locked(0)
    init(cart: Cart) { self.cart = cart }
    func add(_ cart: Cart) { count.withLock { $0 += 1 } }
    var added: Int { count.withLock { $0 } }
}

private struct Cart: Sendable {
    let orders: WeakService<Orders>
    func order() throws { try orders.resolve().add(self) }
}

@Suite struct StateSampleTests {
    private let folder = TemporaryFolder()

    @Test func `A session goes with each call and is kept in a file`() async throws {
        let stub = StubTransport()
        stub["logIn(user:password:)"] = .json(#"{"id":"31d4d96e","tenant":"5"}"#)
        stub["tickets()"] = .json("[]")
        let desk = Desk(serviceRoot: "https://desk.example.com") { $0.transport = stub }
        #expect(Desk.verify().isEmpty)
        let login = try await desk.logIn(user: "ada", password: "secret")
        try desk.session.update {
            $0.headers["X-Session"] = login.id
            $0.secretHeaders = ["X-Session"]
            $0[query: "tenant"] = login.tenant
        }
        #expect(try await desk.tickets().isEmpty)
        let request = try #require(stub.requests.last).request
        #expect(request.url.absoluteString == "https://desk.example.com/tickets?tenant=5" && request.headers["X-Session"] == "31d4d96e")
        let file = folder.url.appending(path: "session.json")
        #expect(try !desk.session.load(from: file))
        let left = try desk.session.save(to: file, including: [.secrets, .challenges])
        desk.session.clear()
        let isKnown = try desk.session.load(from: file)
        #expect(left.isEmpty && isKnown && desk.session.state.headers["X-Session"] == "31d4d96e")
    }

    @Test func `Environments are switched while running`() async throws {
        let stub = StubTransport()
        stub.fallback(.json("[]"))
        let (productionTokens, stagingTokens) = (BearerTokenProvider(token: "p"), BearerTokenProvider(token: "s"))
        let environments = try ServiceEnvironments([
            ServiceEnvironment("production", serviceRoot: "https://api.example.com/v1") {
                $0.authenticationProvider = productionTokens
            },
            ServiceEnvironment("staging", serviceRoot: "https://staging.example.com/v1", headers: ["X-Debug": "1"]) {
                $0.authenticationProvider = stagingTokens
            },
        ])
        let desk = Desk(environments: environments) { $0.transport = stub }
        let changes = environments.changes
        try environments.switchTo("staging")
        for await environment in changes {
            #expect(environment.name == "staging")
            break
        }
        _ = try await desk.tickets()
        let request = try #require(stub.requests.last).request
        #expect(request.url.host() == "staging.example.com" && request.headers[.authorization] == "Bearer s")
    }

    @Test func `Environments come from a file, and the choice is kept`() throws {
        let file = folder.url.appending(path: "environments.json")
        let choice = folder.url.appending(path: "choice")
        try Data(
            """
            {
              "Initial": "staging",
              "Environments": [
                { "Name": "production", "BaseURL": "https://api.example.com/v1" },
                { "Name": "staging", "BaseURL": "https://staging.example.com/v1", "Headers": { "X-Debug": "1" },
                  "Timeouts": { "Total": 30 }, "Values": { "clientID": "7" } }
              ]
            }
            """.utf8
        ).write(to: file)
        let providers = ["production": BearerTokenProvider(token: "p"), "staging": BearerTokenProvider(token: "s")]
        func open() throws -> ServiceEnvironments {
            try ServiceEnvironments(contentsOf: file, choice: .file(choice)) { environment, settings in
                settings.authenticationProvider = providers[environment.name]
            }
        }
        let environments = try open()
        #expect(environments.current.values["clientID"] == "7" && Desk(environments: environments).verify().isEmpty)
        try environments.switchTo("production")
        #expect(try open().current.name == "production")
    }

    @Test func `Services are registered once and resolved by type`() throws {
        let locator = ServiceLocator()
        try locator.register(Clock.self, Clock())
        try locator.register((any Weather).self) { OpenWeather(clock: try $0.resolve()) }
        let weather: any Weather = try locator.resolve()
        #expect(!weather.isSunny && locator.existing(Clock.self) != nil)

        let environments = try ServiceEnvironments([ServiceEnvironment("test", serviceRoot: "https://desk.example.com")])
        try locator.register(Desk.self, in: environments) { Desk() }
        #expect(try locator.resolve(Desk.self).environment?.name == "test")

        try locator.register(Clock.self, Clock(), replacing: true)
        let window = Window()
        try locator.register((any Delegate).self, weak: window)
        #expect(try locator.resolve((any Delegate).self) as? Window === window)

        let test = ServiceLocator(parent: locator)
        try test.register((any Weather).self, Sunshine())
        #expect(try test.resolve((any Weather).self).isSunny)

        try locator.register(Visit.self, lifetime: .scope) { Visit(clock: try $0.resolve()) }
        let visit = locator.scope()
        let _: Visit = try visit.resolve()
        #expect(visit.existing(Visit.self) != nil && locator.existing(Visit.self) == nil)
    }

    @Test func `Services refer to each other`() throws {
        let locator = ServiceLocator()
        try locator.register(Cart.self) { Cart(orders: $0.weak()) }
        try locator.register(Orders.self) { Orders(cart: try $0.resolve()) }
        let cart: Cart = try locator.resolve()
        #expect(cart.orders.value == nil)
        try cart.order()
        #expect(cart.orders.value?.added == 1)
    }
}
