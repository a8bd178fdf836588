import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

private struct Thing: Decodable {
    var id: Int
}

extension IntegrationTests {
    /// Common mistakes of beginners: each message names the offender and the fix.
    @Suite struct BadInputTests {
        @Test func `nobody listens`() async throws {
            let server = try LoopbackServer { _ in }
            let root = server.url.absoluteString
            server.stop()
            let error = try await serviceError { try await WebServiceClient(serviceRoot: root).http.get("/things").send() }
            #expect(error.kind == .transport)
            #expect((error.cause as? TransportError)?.code == .cannotConnect)
            #expect(error.message.contains("127.0.0.1:\(server.port)"))
            #expect("\(error)".contains("GET /things"))
        }

        @Test func `no such host`() async throws {
            let error = try await serviceError {
                try await WebServiceClient(serviceRoot: "http://nowhere.invalid/v1").http.get("/things").send()
            }
            #expect(error.kind == .transport)
            #expect(error.message.contains("nowhere.invalid"))
        }

        @Test func `a wrong root path`() async throws {
            let client = WebServiceClient(serviceRoot: try TestServer.httpbin + "/api/v9")
            let error = try await serviceError { let _: Thing = try await client.http.get("/get").value() }
            #expect(error.status == 404)
            #expect(error.message.contains("Check the service root and the route /get"))
            #expect("\(error)".contains("/api/v9/get"))
        }

        @Test func `204 where a value is needed`() async throws {
            let error = try await serviceError { let _: Thing = try await TestServer.client().http.get("/status/204").value() }
            #expect(error.kind == .emptyBody)
            #expect(error.message.contains("204") && error.message.contains("return Thing?"))
        }

        @Test func `HTML where JSON is expected`() async throws {
            let error = try await serviceError { let _: Thing = try await TestServer.client().http.get("/html").value() }
            #expect(error.kind == .format)
            #expect(error.message.contains("Thing") && error.message.lowercased().contains("html"))
            #expect("\(error)".contains("GET /html"))
        }

        @Test func `JSON of another shape`() async throws {
            let error = try await serviceError { let _: Thing = try await TestServer.client().http.get("/json").value() }
            #expect(error.kind == .decoding)
            #expect(error.message.contains("id"))
        }

        @Test(arguments: [false, true]) func `a body over the bound`(isStreamed: Bool) async throws {
            let client = try TestServer.client { $0.bodyLimit = 1_000 }
            let route = isStreamed ? "/stream-bytes/100000" : "/bytes/100000"
            let error = try await serviceError { let _ = try await client.http.get(route).value(String.self) }
            #expect(error.kind == .bodyTooLarge)
            #expect(error.message.contains("1000 bytes") && error.message.contains("bodyLimit"))
        }

        @Test func `a method that the service doesn't take`() async throws {
            let error = try await serviceError { try await TestServer.client().http.delete("/get").send() }
            #expect(error.status == 405)
            #expect(error.message.contains("DELETE"))
        }
    }
}
