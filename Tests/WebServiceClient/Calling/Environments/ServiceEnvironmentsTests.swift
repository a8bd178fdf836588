import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ServiceEnvironmentsTests {
    private static let two = [
        ServiceEnvironment("production", serviceRoot: "https://api.test/v1", headers: ["X-Stage": "production"]),
        ServiceEnvironment("staging", serviceRoot: "https://staging.test/v1", headers: ["X-Debug": "1"]),
    ]

    private func client(_ environments: ServiceEnvironments, _ answer: StubAnswer = .json("{}")) -> (Store, StubTransport) {
        let stub = StubTransport()
        stub.fallback(answer)
        let client = Store(environments: environments) {
            $0.transport = stub
            $0.headers = ["X-Stage": "client", "X-Client": "client"]
        }
        return (client, stub)
    }

    private func fault(_ body: () throws -> Void) -> ServiceEnvironmentError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ServiceEnvironmentError
        }
    }

    // MARK: Switching

    @Test func `a switch changes root and headers for later calls, and leaves nothing behind`() async throws {
        let environments = try ServiceEnvironments(Self.two)
        let (client, stub) = client(environments)
        #expect(environments.current.name == "production" && environments.names == ["production", "staging"])
        #expect(client.environment?.name == "production" && client.configuration.serviceRoot.isEmpty)
        try await client.http.get("/a").send()
        try environments.switchTo("staging")
        client.configure { $0.headers["X-Later"] = "1" }
        try await client.http.get("/a").send()
        try environments.switchTo("production")
        try await client.http.get("/a").send()
        #expect(stub.requests.map { $0.request.url.host() } == ["api.test", "staging.test", "api.test"])
        #expect(stub.requests.map { $0.request.headers["X-Stage"] } == ["production", "client", "production"])
        #expect(stub.requests.map { $0.request.headers["X-Debug"] } == [nil, "1", nil])
        #expect(stub.requests.map { $0.request.headers["X-Later"] } == [nil, "1", "1"])
        client.follow(nil)
        client.configure { $0.serviceRoot = "https://own.test" }
        try await client.http.get("/a").send()
        try environments.switchTo("staging")
        #expect(client.environment == nil && stub.requests.last?.request.url.host() == "own.test")
    }

    @Test func `calls in flight keep their environment`() async throws {
        let gate = Gate()
        let environments = try ServiceEnvironments(Self.two)
        let (client, stub) = client(
            environments,
            .answering { request in
                try await gate.pass()
                return request.pathSegments.last == "a" ? .redirect(to: "/v1/b") : .json("{}")
            })
        try await watched {
            async let call = client.http.get("/a").send()
            try await gate.arrived()
            try environments.switchTo("staging")
            gate.open()
            _ = try await call
        }
        #expect(stub.requests.map { $0.request.url.absoluteString } == ["https://api.test/v1/a", "https://api.test/v1/b"])
    }

    @Test func `an unknown name is an error with the nearest and all names`() throws {
        let environments = try ServiceEnvironments(Self.two)
        let error = fault { try environments.switchTo("stagging") }
        #expect(error?.kind == .unknown)
        #expect(
            error?.description
                == "There is no environment \"stagging\": the nearest name is \"staging\", and the names are production, staging.")
        #expect(environments.current.name == "production")
        #expect(fault { _ = try environments.environment(named: "") }?.kind == .unknown)
        #expect(fault { _ = try ServiceEnvironments(Self.two, initial: "x") }?.kind == .unknown)
        #expect(try ServiceEnvironments(Self.two, initial: "staging").current.name == "staging")
    }

    @Test func `every fault is told`() {
        let error = fault {
            _ = try ServiceEnvironments([
                ServiceEnvironment(""), ServiceEnvironment("a", serviceRoot: "ftp://x"), ServiceEnvironment("a", serviceRoot: "https://x"),
                ServiceEnvironment(
                    "b", serviceRoots: ["Shop": ""], allowedOrigins: ["nothing"], headers: ["X": "a\r\nb"],
                    timeouts: ServiceTimeouts(firstByte: .seconds(-1), idle: nil)),
            ])
        }
        let text = error?.description ?? ""
        for part in [
            "an environment's name is empty", "has no service root", "\"a\": the service root", "two environments have the name \"a\"",
            "empty service root of Shop", "isn't an origin", "the header \"X\"", "the deadline FirstByte isn't positive",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(fault { _ = try ServiceEnvironments([]) }?.kind == .invalid)
    }

    @Test func `each client has its own root, and none is an error instead of another environment's`() async throws {
        final class Accounts: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://accounts.test") }
        }
        let environments = try ServiceEnvironments([
            ServiceEnvironment("production", serviceRoot: "https://api.test", serviceRoots: ["Accounts": "https://accounts.test"]),
            ServiceEnvironment("staging", serviceRoots: ["Store": "https://staging.test"]),
        ])
        let (store, stub) = client(environments)
        let accounts = Accounts(environments: environments) { $0.transport = stub }
        try await accounts.http.get("/a").send()
        try environments.switchTo("staging")
        try await store.http.get("/a").send()
        let error = try #require(await serviceError { try await accounts.http.get("/a").send() })
        #expect("\(error)".contains("the environment \"staging\" has no service root for Accounts"), "\(error)")
        #expect(stub.requests.map { $0.request.url.host() } == ["accounts.test", "staging.test"])
    }

    @Test func `deadlines, allowed origins and the closure apply`() throws {
        let environment = ServiceEnvironment(
            "a", serviceRoot: "https://a.test", allowedOrigins: ["https://b.test"],
            timeouts: ServiceTimeouts(firstByte: nil, idle: nil, total: .seconds(9))
        ) { $0.bodyLimit = 7 }
        let client = WebServiceClient(environments: try ServiceEnvironments([environment])) {
            $0.timeouts = ServiceTimeouts(firstByte: .seconds(3), total: .seconds(4))
            $0.allowedOrigins = ["https://own.test"]
        }
        let settings = client.state.configuration
        #expect(settings.timeouts == ServiceTimeouts(firstByte: .seconds(3), total: .seconds(9)) && settings.bodyLimit == 7)
        #expect(settings.allowedOrigins == ["https://b.test"] && client.configuration.bodyLimit != 7)
    }

    @Test func `limits of the queue follow the environment`() throws {
        let environments = try ServiceEnvironments([
            ServiceEnvironment("a", serviceRoot: "https://a.test") { $0.queue.active = 3 },
            ServiceEnvironment("b", serviceRoot: "https://b.test"),
        ])
        let client = WebServiceClient(environments: environments)
        #expect(client.queue.limits.active == 3)
        try environments.switchTo("b")
        #expect(client.queue.limits == .none)
    }

    // MARK: What is separated

    @Test func `session, cache and budget belong to the environment, even on one origin`() async throws {
        let environments = try ServiceEnvironments([
            ServiceEnvironment("one", serviceRoot: "https://api.test", headers: ["X-Stage": "one"]),
            ServiceEnvironment("two", serviceRoot: "https://api.test", headers: ["X-Stage": "two"]),
        ])
        let (client, stub) = client(environments, CachingTests.counting())
        client.configure { $0.cache = ResponseCache() }
        @Sendable func get() async throws -> String { try await client.http.get("/a").value() }
        try client.session.update { $0.headers["X-Key"] = "s3cret" }
        let account = client.runtime.retryAccounts.account(for: client.state.place)
        #expect(try await get() == "1")
        try environments.switchTo("two")
        #expect(client.session.state.isEmpty)
        #expect(try await get() == "2")
        #expect(client.runtime.retryAccounts.account(for: client.state.place) !== account)
        try environments.switchTo("one")
        #expect(client.session.state.headers["X-Key"] == "s3cret")
        #expect(try await get() == "1")
        #expect(client.runtime.retryAccounts.account(for: client.state.place) === account)
        #expect(stub.requests.map { $0.request.headers["X-Key"] } == ["s3cret", nil])
    }

    @Test func `calls of two environments share no exchange`() async throws {
        let gate = Gate()
        let environments = try ServiceEnvironments([
            ServiceEnvironment("one", serviceRoot: "https://api.test"), ServiceEnvironment("two", serviceRoot: "https://api.test"),
        ])
        let (client, stub) = client(environments, gate.then("text"))
        @Sendable func get() async throws -> String {
            try await client.http.get("/a").describing { $0.identifier("a", .reuse).coalesced() }.value()
        }
        try await watched {
            async let first = get()
            try await gate.arrived()
            try environments.switchTo("two")
            async let second = get()
            try await gate.arrived(2)
            gate.open()
            _ = try await (first, second)
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `each environment has its provider, and one for all is reported`() async throws {
        let messages = Locked<[String]>([])
        let environments = try ServiceEnvironments(
            Self.two.map { environment in
                var environment = environment
                let token = BearerTokenProvider(token: environment.name)
                environment.configure = { $0.authenticationProvider = token }
                return environment
            })
        let (client, stub) = client(environments)
        client.configure { $0.diagnostics = Diagnostics { event in messages.withLock { $0.append(event.message) } } }
        try await client.http.get("/a").send()
        try environments.switchTo("staging")
        try await client.http.get("/a").send()
        #expect(stub.requests.map { $0.request.headers[.authorization] } == ["Bearer production", "Bearer staging"])
        #expect(messages.withLock { $0 }.isEmpty)
        client.follow(try ServiceEnvironments(Self.two))
        client.configure { $0.authenticationProvider = BearerTokenProvider(token: "one") }
        _ = client.verify()
        #expect(messages.withLock { $0 }.contains { $0.contains("own authentication provider") })
    }

    // MARK: The stream, and clients

    @Test func `changes are a stream that ends with the environments`() async throws {
        var environments: ServiceEnvironments? = try ServiceEnvironments(Self.two)
        let changes = try #require(environments).changes
        try environments?.switchTo("staging")
        try environments?.switchTo("staging")
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.name == "staging")
        try environments?.switchTo("production")
        environments = nil
        #expect(await iterator.next()?.name == "production")
        #expect(await iterator.next() == nil)
    }

    @Test func `clients aren't kept alive`() throws {
        let environments = try ServiceEnvironments(Self.two)
        weak var gone: Store?
        do {
            let client = Store(environments: environments)
            gone = client
        }
        #expect(gone == nil)
        try environments.switchTo("staging")
        #expect(Store(environments: environments).environment?.name == "staging")
    }

    @Test func `concurrent switches end with all clients in the current environment`() async throws {
        let environments = try ServiceEnvironments(Self.two)
        let clients = (0..<4).map { _ in Store(environments: environments) }
        try await watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Sweep.rounds(ofAll: 400) {
                    group.addTask {
                        try environments.switchTo(number % 2 == 0 ? "staging" : "production")
                        if number % 10 == 0 { clients[number % 4].follow(environments) }
                        _ = clients[number % 4].state
                    }
                }
                try await group.waitForAll()
            }
        }
        for client in clients { #expect(client.environment?.name == environments.current.name) }
    }

    @Test func `a locator's client follows the environments`() async throws {
        let stub = StubTransport()
        stub.fallback(.json("{}"))
        let environments = try ServiceEnvironments(Self.two)
        let locator = ServiceLocator()
        try locator.register(Store.self, in: environments) { Store { $0.transport = stub } }
        #expect(locator.existing(Store.self) == nil)
        let store = try locator.resolve(Store.self)
        try environments.switchTo("staging")
        try await store.http.get("/a").send()
        #expect(stub.requests.last?.request.url.host() == "staging.test")
        try locator.register(Int.self, in: environments) { Store() }
        #expect(throws: ServiceLocatorError.self) { try locator.resolve(Int.self) }
    }
}
