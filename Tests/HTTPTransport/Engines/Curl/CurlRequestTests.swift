import Foundation
import Testing

@testable import HTTPTransport

@Suite struct CurlRequestTests {
    private func request(
        _ method: ServiceRequest.Method = .get, _ url: String = "http://example.com/a", _ headers: HTTPFields = [:],
        body: RequestBody? = nil
    ) throws -> CurlRequest {
        let url = try #require(URL(string: url))
        return try CurlRequest(ServiceRequest(method: method, url: url, headers: headers, body: body), codings: "gzip, br")
    }

    private func lines(_ request: CurlRequest) -> [String] { request.fields.lines.texts }

    @Test func `fields go out in order, empty ones with a semicolon, and libcurl's own are taken back`() throws {
        let request = try request(.get, "http://example.com/a", ["X-One": "1", "X-Empty": "", "x-one": "é"])
        #expect(lines(request) == ["X-One: 1", "X-Empty;", "x-one: é", "Accept-Encoding: gzip, br", "Accept:"])
        #expect(request.fields.isDecoded)
        // With a body, or where the method has one as a rule, it would add more.
        for request in [try self.request(.post), try self.request(.delete, body: RequestBody(Data("a".utf8)))] {
            #expect(lines(request) == ["Accept-Encoding: gzip, br", "Accept:", "Expect:", "Content-Type:"])
        }
    }

    @Test func `a body's type is set where none is given, and wins where it must`() throws {
        let body = RequestBody(Data("a".utf8), contentType: "text/plain")
        #expect(lines(try request(.post, body: body)).contains("Content-Type: text/plain"))
        #expect(lines(try request(.post, "http://a/", ["Content-Type": "b/c"], body: body)).contains("Content-Type: b/c"))
        var binding = body
        binding.contentTypeIsBinding = true
        let lines = lines(try request(.post, "http://a/", ["Content-Type": "b/c"], body: binding))
        #expect(lines.filter { $0.hasPrefix("Content-Type") } == ["Content-Type: text/plain"])
    }

    @Test func `who names codings gets those, and with a range or identity the body as it comes`() throws {
        func codings(_ request: CurlRequest) -> [String] { lines(request).filter { $0.hasPrefix("Accept-Encoding") } }
        let brotli = try request(.get, "http://a/", ["Accept-Encoding": "br"])
        #expect(brotli.fields.isDecoded)
        #expect(codings(brotli) == ["Accept-Encoding: br"])
        for identity in ["identity", "Identity"] {
            let request = try request(.get, "http://a/", ["Accept-Encoding": identity])
            #expect(!request.fields.isDecoded)
            #expect(codings(request) == ["Accept-Encoding: \(identity)"])
        }
        let none = try request(.get, "http://a/", ["Accept-Encoding": ""])
        #expect(!none.fields.isDecoded)
        #expect(codings(none) == ["Accept-Encoding;"])
        let range = try request(.get, "http://a/", ["Range": "bytes=0-1"])
        #expect(!range.fields.isDecoded)
        #expect(codings(range) == [])
    }

    @Test func `credentials for a proxy go to the proxy only`() throws {
        let request = try request(.get, "https://a/", ["Proxy-Authorization": "Basic x", "Authorization": "Basic y"])
        #expect(lines(request).contains("Authorization: Basic y"))
        #expect(!lines(request).contains { $0.hasPrefix("Proxy") })
        #expect(request.fields.proxyLines?.texts == ["Proxy-Authorization: Basic x"])
    }

    @Test(arguments: [
        ("ftp://a/", TransportError.Code.badRequest), ("http:///x", .badRequest), ("http://u:p@a/", .badRequest),
        ("/relative", .badRequest),
    ])
    func `URLs that can't be called are refused`(url: String, code: TransportError.Code) throws {
        let error = #expect(throws: TransportError.self) { try request(.get, url) }
        #expect(error?.code == code)
        #expect(error?.message.contains("u:p") == false)
    }

    @Test func `what would break out of its line is refused`() throws {
        for headers: HTTPFields in [["A": "b\r\nC: d"], ["A": "b\0"], ["A b": "c"], ["": "c"], ["Transfer-Encoding": "chunked"]] {
            #expect(throws: TransportError.self) { try request(.get, "http://a/", headers) }
        }
        #expect(throws: TransportError.self) { try request(.post, body: RequestBody(Data(), contentType: "a\r\nb: c")) }
        #expect(throws: TransportError.self) { try request("GET /x HTTP/1.1\r\nA: b") }
        #expect(throws: TransportError.self) { try request("CONNECT") }
        #expect(throws: TransportError.self) { try request(.post, "http://a/", ["Content-Length": "7"], body: RequestBody(Data("a".utf8))) }
    }

    @Test func `small bodies go with the head, others are streamed, and HEAD has none`() throws {
        guard case .bytes(let small) = try request(.post, body: RequestBody(Data("ab".utf8))).upload else {
            Issue.record("small")
            return
        }
        #expect(small.count == 2)
        guard case .stream = try request(.put, body: RequestBody(Data(count: 100_000))).upload else {
            Issue.record("large")
            return
        }
        guard case .bytes(let none) = try request(.patch).upload else {
            Issue.record("POST without a body has a length of 0")
            return
        }
        #expect(none.isEmpty)
        guard case .none = try request(.delete).upload else {
            Issue.record("DELETE")
            return
        }
        #expect(throws: TransportError.self) { try request(.head, body: RequestBody(Data("a".utf8))) }
    }
}
