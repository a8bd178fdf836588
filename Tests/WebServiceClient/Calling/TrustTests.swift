import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct TrustTests {
    private static let classPolicy = TrustPolicy(pins: ["class.test": [.publicKey(sha256: SampleCertificate.pin)]])
    private static let methodPolicy = TrustPolicy(pins: ["method.test": [.publicKey(sha256: SampleCertificate.pin)]])
    private static let clientPolicy = TrustPolicy(pins: ["client.test": [.publicKey(sha256: SampleCertificate.pin)]])

    private final class Classy: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults { EndpointDefaults(trust: classPolicy) }
        override class var endpoints: EndpointTable { ["plain()": .get("/a"), "own()": .get("/b").trust(methodPolicy)] }
        func plain() async throws { try await call() }
        func own() async throws { try await call() }
    }

    private final class Faulty: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["pinned()": .get("/a").trust(TrustPolicy(pins: ["a.test:443": [.publicKey(sha256: "nonsense")]]))]
        }
    }

    private static func identity() throws -> ClientIdentity {
        try .pem(chain: Data(SampleCertificate.pem.utf8), key: Data(SampleCertificate.key.utf8))
    }

    @Test func `The method's policy wins over the class's, and that over the client's`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let classy = Classy(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.trust = Self.clientPolicy
        }
        try await classy.plain()
        try await classy.own()
        let plain = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.trust = Self.clientPolicy
        }
        try await plain.http.get("/c").send()
        plain.configure { $0.trust = nil }
        try await plain.http.get("/d").send()
        #expect(stub.requests.map(\.request.trust) == [Self.classPolicy, Self.methodPolicy, Self.clientPolicy, nil])
    }

    @Test(arguments: [
        (TrustPolicy(pins: ["a.test": [.publicKey(sha256: SampleCertificate.pin)]]), "pinning"),
        (TrustPolicy(minimumTLSVersion: .tlsv13), "a minimum version of TLS"),
        (TrustPolicy(identity: try? identity()), "client certificates"),
        (TrustPolicy(authorities: .only((try? [SampleCertificate.certificate()]) ?? [])), "own certificate authorities"),
    ])
    func `A client whose transport can't honour its policy makes no call`(policy: TrustPolicy, name: String) async throws {
        let stub = StubTransport(capabilities: [.http2, .backPressure])
        stub.fallback(.status(200))
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.trust = policy
        }
        let fault = try #require(client.verify().first)
        #expect(fault.kind == .missingCapability && fault.problem.contains(name) && fault.fix.contains("transport"))
        #expect(await serviceError { try await client.http.get("/a").send() }?.kind == .table)
        #expect(stub.requests.isEmpty)
    }

    @Test func `A call outside of the table that requires what the transport can't do isn't sent`() async throws {
        let stub = StubTransport(capabilities: [.http2])
        stub.fallback(.status(200))
        let client = WebServiceClient(serviceRoot: "https://api.test") { $0.transport = stub }
        for change: @Sendable (EndpointDescriptor) -> EndpointDescriptor in [{ $0.requiring(.pinning) }, { $0.trust(Self.methodPolicy) }] {
            let error = try #require(await serviceError { try await client.http.get("/pay").describing(change).send() })
            #expect(error.kind == .table && error.message.contains("pinning") && error.message.contains("GET /pay"))
        }
        let secret = await serviceError { try await client.http.get("/pay?token=hush").describing { $0.requiring(.pinning) }.send() }
        #expect(secret?.kind == .table && secret.map { "\($0)".contains("hush") } == false)
        #expect(stub.requests.isEmpty)
    }

    @Test func `Verification finds what classes and methods ask for, and what can't be right`() {
        let missing = Classy.verify(for: [.http2])
        #expect(missing.map(\.key) == [nil, "own()"] && missing.allSatisfy { $0.kind == .missingCapability })
        #expect(Classy.verify(for: [.pinning]).isEmpty && Classy.verify().isEmpty)
        let faults = Faulty.verify()
        #expect(faults.map(\.kind) == [.badTrust, .badTrust] && faults.allSatisfy { $0.key == "pinned()" })
        #expect(faults.contains { $0.fix.contains("a.test:443") } && faults.contains { $0.fix.contains("nonsense") })
        #expect(Classy.describe().endpoints.map(\.requires) == [[], ["pinning"]])
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = StubTransport()
            $0.trust = TrustPolicy(authorities: .only([]))
        }
        #expect(client.verify().map(\.kind) == [.badTrust])
    }

    @Test func `The identity goes to the origin of the service root and nowhere else`() async throws {
        let stub = StubTransport()
        let policy = TrustPolicy(identity: try Self.identity(), pins: ["a.test": [.publicKey(sha256: SampleCertificate.pin)]])
        stub.on(.get, "/start", .redirect(to: "https://other.test/between", status: 307))
        stub.on(.get, "/between", .redirect(to: "https://api.test/end", status: 307))
        stub.fallback(.status(200))
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.trust = policy
        }
        try await client.http.get("/start").send()
        #expect(stub.requests.map { $0.request.trust?.identity != nil } == [true, false, true])
        try await client.http.request(outside: #require(URL(string: "https://api.test:8443/x"))).send()
        try await client.http.request(outside: #require(URL(string: "https://elsewhere.test/x"))).send()
        try await client.http.request(link: #require(URL(string: "https://api.test/x"))).send()
        #expect(stub.requests.suffix(3).map { $0.request.trust?.identity != nil } == [false, false, true])
        // Pins apply to all origins.
        #expect(stub.requests.allSatisfy { $0.request.trust?.pins == policy.pins })
    }

    @Test func `Nobody on the way can take the identity elsewhere`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let policy = TrustPolicy(identity: try Self.identity())
        let elsewhere = try #require(URL(string: "https://elsewhere.test/x"))
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.interceptors = [
                RequestPreparer {
                    $0.trust = policy
                    $0.url = elsewhere
                }
            ]
        }
        try await client.http.get("/a").send()
        #expect(stub.requests.count == 1 && stub.requests[0].request.trust?.identity == nil)
    }

    @Test func `A policy that an interceptor sets ends the call where the transport would ignore it`() async throws {
        let stub = StubTransport(capabilities: [.http2])
        stub.fallback(.status(200))
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.interceptors = [RequestPreparer { $0.trust = Self.clientPolicy }]
        }
        let error = await serviceError { try await client.http.get("/a").send() }
        #expect((error?.cause as? TransportError)?.code == .unsupported)
        #expect(stub.requests.isEmpty)
    }

    @Test func `A policy for a service root without TLS is told of`() {
        let events = Locked<[String]>([])
        let client = WebServiceClient(serviceRoot: "http://api.test") {
            $0.transport = StubTransport()
            $0.trust = Self.clientPolicy
            $0.diagnostics = Diagnostics { event in events.withLock { $0.append("\(event)") } }
        }
        #expect(client.verify().isEmpty)
        #expect(events.withLock { $0.contains { $0.contains("use https") } })
    }

    @Test func `A host that has pins isn't called without TLS, whoever has set the policy or the URL`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let plain = WebServiceClient(serviceRoot: "http://client.test") {
            $0.transport = stub
            $0.trust = Self.clientPolicy
        }
        let secure = WebServiceClient(serviceRoot: "https://client.test") {
            $0.transport = stub
            $0.trust = Self.clientPolicy
            $0.interceptors = [RequestPreparer { $0.url = URL(string: "http://CLIENT.test/b") ?? $0.url }]
        }
        for client in [plain, secure] {
            let cause = (await serviceError { try await client.http.get("/a").send() })?.cause as? TransportError
            #expect(cause?.code == .badRequest && cause?.message.contains("client.test") == true, "\(String(describing: cause))")
        }
        #expect(stub.requests.isEmpty)
        // Other hosts have no pins, so plain HTTP is allowed.
        try await plain.http.request(outside: #require(URL(string: "http://other.test/x"))).send()
        #expect(stub.requests.count == 1)
    }

    @Test(.enabled(if: CurlTransport.shared?.capabilities.contains(.pinning) == true, "needs libcurl 7.80 or later with OpenSSL"))
    func `libcurl isn't asked for a host that has pins without TLS`() async throws {
        var request = ServiceRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        request.trust = TrustPolicy(pins: ["127.0.0.1": [.publicKey(sha256: SampleCertificate.pin)]])
        let error = await #expect(throws: TransportError.self) { _ = try await CurlTransport().send(request) }
        #expect(error?.code == .badRequest && error?.message.contains("https") == true)
        var configuration = CurlTransport.Configuration()
        configuration.trust = try #require(request.trust)
        request.trust = nil
        let other = await #expect(throws: TransportError.self) { _ = try await CurlTransport(configuration: configuration).send(request) }
        #expect(other?.code == .badRequest)
    }

    #if canImport(FoundationNetworking)
    @Test func `URLSession on Linux refuses what it can't honour`() async throws {
        var request = ServiceRequest(url: try #require(URL(string: "https://127.0.0.1:1/")))
        for policy in [
            Self.clientPolicy, TrustPolicy(minimumTLSVersion: .tlsv12), TrustPolicy(identity: try Self.identity()),
            TrustPolicy(authorities: .only([try SampleCertificate.certificate()])),
        ] {
            request.trust = policy
            let error = await #expect(throws: TransportError.self) { _ = try await URLSessionTransport.shared.send(request) }
            #expect(error?.code == .unsupported)
        }
        request.trust = TrustPolicy()
        let error = await #expect(throws: TransportError.self) { _ = try await URLSessionTransport.shared.send(request) }
        #expect(error?.code == .cannotConnect)
    }
    #endif
}
