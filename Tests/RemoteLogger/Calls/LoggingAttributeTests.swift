import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

/// The level of an endpoint's calls as data: in exported tables, profiles and stored calls.
@Suite struct LoggingAttributeTests {
    private final class Vault: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://vault.test") }
        override class var endpoints: EndpointTable {
            [
                "quiet()": .get("/quiet").logging(.debug), "silent()": .get("/silent").logging(.off),
                "loud()": .get("/loud").logging(.warning.withBodies(upTo: 2_000)),
            ]
        }
    }

    /// A client that notes the attribute of each call.
    private func client(_ profile: ServiceProfile? = nil) -> (WebServiceClient, Locked<[LoggingAttribute?]>) {
        let seen = Locked<[LoggingAttribute?]>([])
        let stub = StubTransport()
        stub.fallback(.text("x"))
        let configure: (inout WebServiceClient.Configuration) -> Void = {
            $0.transport = stub
            $0.interceptors = [
                RequestPreparer { _, context in seen.withLock { $0.append(context.attributes[LoggingAttribute.self]) } }
            ]
        }
        if let profile { return (WebServiceClient(profile: profile, configure: configure), seen) }
        return (WebServiceClient(serviceRoot: "https://vault.test", configure: configure), seen)
    }

    @Test func `an exported table keeps it`() async throws {
        let profile = try ServiceProfile(openAPI: Data(Vault.describe(as: .openAPI).utf8))
        #expect(!profile.notes.contains { $0.contains("LoggingAttribute") }, "\(profile.notes)")
        let (client, seen) = client(profile)
        let _: String = try await client.dynamic.quiet()
        let _: String = try await client.dynamic.silent()
        let _: String = try await client.dynamic.loud()
        #expect(seen.withLock { $0 } == [.debug, .off, .warning.withBodies(upTo: 2_000)])
    }

    @Test func `a profile can raise the level, but neither hide calls nor have bodies logged`() async throws {
        func profile(_ text: String) throws -> ServiceProfile {
            let resource: [String: Any] = ["Name": "a()", "URITemplate": "/a", "Attributes": [text]]
            return try ServiceProfile(dictionary: ["BaseURL": "https://vault.test", "Resources": [resource]])
        }
        let (client, seen) = client(try profile("LoggingAttribute(level: Optional(warning), bodyLimit: nil)"))
        let _: String = try await client.dynamic.a()
        #expect(seen.withLock { $0 } == [.warning])
        for attribute in [LoggingAttribute.off, .trace, .debug, .info.withBodies(upTo: 9), .info.withBodies(upTo: 0)] {
            let error = #expect(throws: ServiceProfileError.self) { try profile("\(attribute)") }
            #expect(error?.faults.first?.contains("isn't an attribute that a profile can set") == true, "\(attribute)")
        }
    }

    @Test(arguments: [LoggingAttribute.debug, .off, .info.withBodies(upTo: 9)]) func `a stored call keeps it`(
        attribute: LoggingAttribute
    ) async throws {
        let (client, seen) = client()
        let stored = try client.http.get("/a").describing { $0.logging(attribute) }.stored()
        #expect(stored.omitted.isEmpty)
        let call = try client.http.call(from: try StoredCall(data: try stored.data()))
        try await call.send()
        #expect(seen.withLock { $0 } == [attribute])
        #expect(try JSONDecoder().decode(LoggingAttribute.self, from: JSONEncoder().encode(attribute)) == attribute)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LoggingAttribute.self, from: Data(#"{"level": "shouting"}"#.utf8))
        }
    }
}
