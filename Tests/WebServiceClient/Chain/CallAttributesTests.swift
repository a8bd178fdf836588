import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CallAttributesTests {
    private struct Level: EndpointAttribute, Equatable { let name: String }
    private struct Mark: EndpointAttribute, Equatable { let number: Int }

    private class Leveled: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["own()": .get("/own").attribute(Level(name: "descriptor")), "plain()": .get("/plain")]
        }
        override class var defaults: EndpointDefaults { EndpointDefaults().attribute(Level(name: "class")) }
        func own() async throws { try await call() }
        func plain() async throws { try await call() }
    }

    /// A client that notes the attributes of each call.
    private func client<Client: WebServiceClient>(
        _ type: Client.Type, _ make: @escaping (String, (inout WebServiceClient.Configuration) -> Void) -> Client,
        _ configure: @escaping (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (client: Client, seen: @Sendable () -> [String]) {
        let seen = Locked<[String]>([])
        let stub = StubTransport()
        stub.fallback(.json("{}"))
        let client = make("https://api.test") {
            $0.transport = stub
            $0.attributes[Level.self] = Level(name: "client")
            $0.interceptors = [
                RequestPreparer { _, context in
                    let level = context.attributes[Level.self]?.name ?? "none"
                    let mark = context.attributes[Mark.self].map { " \($0.number)" } ?? ""
                    seen.withLock { $0.append(level + mark) }
                }
            ]
            configure(&$0)
        }
        return (client, { seen.withLock { $0 } })
    }

    private func leveled(
        _ configure: @escaping (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (client: Leveled, seen: @Sendable () -> [String]) {
        client(Leveled.self, { Leveled(serviceRoot: $0, configure: $1) }, configure)
    }

    @Test func `an attribute is found by its type, and one of a subclass by its superclass`() {
        class Base: EndpointAttribute, @unchecked Sendable {}
        final class Special: Base, @unchecked Sendable {}
        struct Other: EndpointAttribute {}
        var attributes = EndpointAttributes()
        #expect(attributes[Other.self] == nil && attributes[Base.self] == nil)
        attributes[Special.self] = Special()
        #expect(attributes[Base.self] is Special && attributes[Special.self] != nil && attributes[Other.self] == nil)
        attributes[Other.self] = Other()
        #expect(attributes[Other.self] != nil && attributes.all.count == 2)
        attributes[Base.self] = nil
        #expect(attributes[Special.self] == nil && attributes.all.count == 1)
    }

    @Test func `the call overrides the endpoint, that the class, that the client`() async throws {
        let (client, seen) = leveled()
        try await client.plain()
        try await client.own()
        try await client.with(Level(name: "call")) { try await $0.own() }
        try await client.with(Level(name: "call")) { try await $0.plain() }
        try await client.http.get("/x").describing { $0.attribute(Level(name: "described")) }.send()
        try await client.with(Level(name: "call")) { client -> Void in
            try await client.http.get("/x").describing { $0.attribute(Level(name: "described")) }.send()
        }
        #expect(seen() == ["class", "descriptor", "call", "call", "described", "call"])
        // Without a class that sets it.
        let (other, otherSeen) = self.client(WebServiceClient.self, { WebServiceClient(serviceRoot: $0, configure: $1) })
        try await other.http.get("/x").send()
        #expect(otherSeen() == ["client"])
    }

    @Test func `it ends with its closure, also after an error, and returns the closure's result`() async throws {
        let (client, seen) = leveled()
        #expect(await client.with(Mark(number: 1)) { _ in 7 } == 7)
        await #expect(throws: Refusal.self) {
            try await client.with(Mark(number: 1)) { client -> Void in
                try await client.own()
                throw Refusal()
            }
        }
        try await client.own()
        #expect(seen() == ["descriptor 1", "descriptor"] && CallAttributes.current == nil)
    }

    @Test func `of two attributes of one type the last counts, and an inner closure adds to the outer`() async throws {
        let (client, seen) = leveled()
        try await client.with(Mark(number: 1), Mark(number: 2)) { try await $0.own() }
        try await client.with(Mark(number: 1), Level(name: "outer")) { client in
            try await client.with(Mark(number: 3)) { try await $0.own() }
            try await client.own()
        }
        try await client.with { try await $0.own() }
        #expect(seen() == ["descriptor 2", "outer 3", "outer 1", "descriptor"])
    }

    @Test func `nested closures of two clients keep apart`() async throws {
        let (first, firstSeen) = leveled()
        let (second, secondSeen) = leveled()
        try await first.with(Mark(number: 1)) { first in
            try await second.own()
            try await second.with(Mark(number: 2)) { second in
                try await first.own()
                try await second.own()
                try await first.with(Mark(number: 3), Level(name: "inner")) { first in
                    try await first.own()
                    try await second.own()
                }
                try await first.own()
            }
        }
        #expect(firstSeen() == ["descriptor 1", "inner 3", "descriptor 1"])
        #expect(secondSeen() == ["descriptor", "descriptor 2", "descriptor 2"])
    }

    @Test func `calls of interceptors and providers have none of it`() async throws {
        struct Provider: AuthenticationProvider {
            let token: @Sendable () async throws -> Void

            func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
                try await token()
                attempt.request.headers[.authorization] = "Bearer x"
            }

            func respond(
                to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
                context: CallContext
            ) async throws -> Bool { false }

            var isSessionOpened: Bool { false }
            func invalidate() async {}
        }
        let (helper, helperSeen) = leveled()
        let own = Locked<Leveled?>(nil)
        let (client, seen) = leveled {
            $0.interceptors.append(
                RequestPreparer { request, _ in
                    guard request.url.path == "/own" else { return }
                    try await helper.plain()
                    // A call of the same client is another call, too.
                    try await own.withLock { $0 }?.plain()
                })
            $0.authenticationProvider = Provider { try await helper.own() }
        }
        own.withLock { $0 = client }
        try await helper.with(Mark(number: 9)) { _ in
            try await client.with(Mark(number: 1)) { try await $0.own() }
        }
        own.withLock { $0 = nil }
        #expect(seen() == ["descriptor 1", "class"])
        #expect(helperSeen().allSatisfy { !$0.contains("9") } && helperSeen().count == 3, "\(helperSeen())")
    }

    @Test func `calls of child tasks have it, those of detached tasks don't`() async throws {
        let (client, seen) = leveled()
        try await client.with(Mark(number: 5)) { client in
            async let first: Void = client.own()
            try await first
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await client.own() }
                try await group.waitForAll()
            }
            try await Task { try await client.own() }.value
            try await Task.detached { try await client.own() }.value
        }
        #expect(seen() == ["descriptor 5", "descriptor 5", "descriptor 5", "descriptor"])
    }

    @Test func `the library's own attributes are read from it`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(503))
        let client = Leveled(serviceRoot: "https://api.test") { $0.transport = stub }
        let policy = RetryPolicy(attempts: 4, backoff: Backoff(base: .zero, cap: .zero))
        await #expect(throws: ServiceError.self) { try await client.with(policy) { try await $0.own() } }
        #expect(stub.requests.count == 4)
    }
}
