import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A combining mark forms one character with the preceding text, but servers see bytes.
@Suite struct CombiningMarkTests {
    @Test(arguments: [
        "../\u{301}x", "a/../\u{301}x", "a/./\u{308}b", "..\u{2F}\u{20DD}", "/\u{301}x", "a//\u{301}b", "a/\u{301}/", "../\u{200D}x",
        "./\u{FE0F}", "%2e%2e/\u{301}x", "a/\u{301}/../x", "a/.%2E/\u{1F3FB}", "../\u{0E31}x", "../\u{0903}",
    ])
    func `A whole path is split at its slashes, whatever follows them`(path: String) async throws {
        let (client, stub) = Store.stubbed()
        let error = try #require(await serviceError { let _: Data = try await client.dynamic.file(path: path) })
        #expect(error.kind == .argument && stub.requests.isEmpty, "\(error)")
    }

    @Test(arguments: [
        ("a/\u{301}x", "a/%CC%81x"), ("..\u{301}/x", "..%CC%81/x"), ("a/\u{301}b/\u{301}c", "a/%CC%81b/%CC%81c"),
        ("e\u{301}/\u{E9}", "e%CC%81/%C3%A9"), ("a\r\nb/c", "a%0D%0Ab/c"),
    ])
    func `Each segment is encoded as it is`(path: String, sent: String) async throws {
        #expect(try await url { $0.http.get("%%0%%", path) } == "https://api.test/v1/" + sent)
    }

    @Test func `A scheme is one, whatever follows its colon`() async throws {
        for path in ["http:\u{301}x", "javascript:\u{301}", "a:/\u{301}/host"] {
            #expect(await serviceError { _ = try await url { $0.http.get("%%0%%", path) } }?.kind == .argument, "\(path)")
        }
    }

    @Test(arguments: [
        ("/a?\u{301}b=1", "/a?%CC%81b=1"), ("/a?x=1&\u{301}y=2", "/a?x=1&%CC%81y=2"), ("/a?x=\u{301}1", "/a?x=%CC%811"),
        ("/a/\u{301}b", "/a/%CC%81b"), ("/a/%%0%%\u{301}", "/a/v%CC%81"), ("/a?q=%%0%%\u{301}", "/a?q=v%CC%81"),
        ("/\u{301}%%0%%/b", "/%CC%81v/b"), ("/a?%%0%%=\u{301}", "/a?v=%CC%81"),
    ])
    func `Routes are taken apart in the same way`(route: String, sent: String) async throws {
        let result = try await route.range(ofMark: "%%") == nil ? url { $0.http.get(route) } : url { $0.http.get(route, "v") }
        #expect(result == "https://api.test/v1" + sent)
    }

    @Test(arguments: ["/a#\u{301}b", "/a?x=1#\u{301}", "http://\u{301}host/x"])
    func `So are the faults of routes found`(route: String) {
        #expect(CompiledTable(["x()": .get(route)], root: nil).faults.contains { $0.kind == .badTemplate })
    }

    @Test(arguments: ["/a/../\u{301}b", "/..", "/a/.\u{2F}\u{301}"]) func `And those of URI templates`(template: String) {
        #expect(CompiledTable(["x()": .get(uriTemplate: template)], root: nil).faults.contains { $0.kind == .badTemplate })
    }

    @Test(arguments: [
        "https://ada:s3cret@\u{301}h.test/p", "https://h.test/?\u{301}a=1&token=s3cret", "https://h.test/?token=\u{301}s3cret",
        "https://h.test/?a=1&\u{301}b&token=s3cret", "https://h.test/p#\u{301}&access_token=s3cret", "//ada:s3cret@\u{308}h",
        "https://ada:s3cret@h/\u{301}?#", "https://h.test/?&\u{301}&password=s3cret#\u{301}", "/p?\u{301}&token=s3cret",
        "https://h/?a=b\u{301}&\u{20DD}&sig=s3cret",
    ])
    func `Secrets of a URL are masked, whatever follows its marks`(text: String) {
        #expect(!SecretMask.text(ofURL: text).contains("s3cret"), "\(SecretMask.text(ofURL: text))")
    }

    @Test func `Brackets in the names of a form are brackets`() throws {
        let form = Data("a[\u{301}b]=1&a[c]=2&d[\u{20DD}]=3".utf8)
        let tree = try FormSerializer().decode([String: [String: String]].self, from: form, at: [], contentType: nil)
        #expect(tree == ["a": ["\u{301}b": "1", "c": "2"], "d": ["\u{20DD}": "3"]])
    }

    @Test(arguments: ["", " ", "\t", "  \t "]) func `A blank media type is an error, not a field that isn't sent`(type: String) async throws
    {
        let (client, stub) = Store.stubbed()
        for transport in [stub as any Transport, try #require(CurlTransport.shared), URLSessionTransport.shared] {
            client.configure { $0.transport = transport }
            for call in [
                client.http.post("/x").body(RequestBody(Data("a".utf8), contentType: type)),
                client.http.post("/x").body(Data("a".utf8)).prepare { $0.headers[.contentType] = type },
                client.http.post("/x").body(["a"]).describing { $0.serializer(JSONSerializer(contentType: type)) },
                client.http.post("/x").body(Data("a".utf8)).describing { $0.header(.contentType, type) },
            ] {
                let error = try #require(await serviceError { try await call.send() }, "\(type.debugDescription)")
                #expect([.request, .table, .transport].contains(error.kind) && error.message.contains("Content-Type"), "\(error)")
            }
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            guard !(transport is StubTransport) else { continue }
            for request in [
                ServiceRequest(method: .post, url: url, body: RequestBody(Data("a".utf8), contentType: type)),
                ServiceRequest(method: .post, url: url, headers: ["Content-Type": type], body: RequestBody(Data("a".utf8))),
            ] {
                let failure = await #expect(throws: TransportError.self) { _ = try await transport.send(request) }
                #expect(failure?.code == .badRequest)
            }
        }
        #expect(stub.requests.isEmpty)
        let client2 = Store(serviceRoot: "https://a.test") { $0.headers = ["Content-Type": type] }
        #expect(client2.verify().contains { $0.kind == .badHeader })
    }

    @Test func `Any other blank value is sent as an empty one`() async throws {
        let server = try LoopbackServer { $0.get("/") { request in .text(request.fields["X-A"].map { "[\($0)]" } ?? "none") } }
        for value in ["", " ", "\t "] {
            let url = try #require(URL(string: "\(server.url)/"))
            let response = try await #require(CurlTransport.shared).send(ServiceRequest(url: url, headers: [HTTPFields.Name("X-A"): value]))
            #expect(try await response.body.collect(upTo: 100) == Data("[]".utf8), "\(value.debugDescription)")
        }
    }
}
