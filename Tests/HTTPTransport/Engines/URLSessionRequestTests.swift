import Foundation
import HTTPTransport
import TestSupport
import Testing

/// Requests that are refused before anything is sent, each with an error that names the fault.
@Suite struct URLSessionRequestTests {
    private let transport = URLSessionTransport()

    private func error(
        _ url: String = "http://127.0.0.1:1/", method: ServiceRequest.Method = .get, headers: HTTPFields = [:], body: RequestBody? = nil
    ) async throws -> TransportError? {
        let request = ServiceRequest(method: method, url: try #require(URL(string: url)), headers: headers, body: body)
        do {
            _ = try await watched { [transport] in try await transport.send(request) }
            return nil
        } catch let error as TransportError {
            return error
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/", "/relative", "file:///etc/passwd", "mailto:a@b", "http:///nohost", "data:,x"])
    func `a URL that is no absolute web address is refused`(url: String) async throws {
        #expect(try await error(url)?.code == .badRequest)
    }

    @Test func `user info in the URL is refused without telling it`() async throws {
        let error = try #require(try await error("http://ada:s3cret@127.0.0.1:1/"))
        #expect(error.code == .badRequest)
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test(arguments: ["\r", "\n", "\r\nX-Evil: 1", "a\0b"]) func `a header value of two lines is refused`(value: String) async throws {
        let error = try #require(try await error(headers: ["X-Team": "secret" + value]))
        #expect(error.code == .badRequest)
        #expect(error.message.contains("X-Team"))
        #expect(!error.message.contains("secret"))
    }

    @Test(arguments: ["", "X Y", "X:Y", "X\r\nY", "Ü"]) func `a header name that is no token is refused`(name: String) async throws {
        #expect(try await error(headers: [HTTPFields.Name(name): "1"])?.code == .badRequest)
    }

    @Test(arguments: ["", "G T", "GET\r\n", "get", "pOST"] as [ServiceRequest.Method])
    func `a method that would go out otherwise is refused`(method: ServiceRequest.Method) async throws {
        #expect(try await error(method: method)?.code == .badRequest)
    }

    @Test(arguments: [.get, .head, "TRACE"] as [ServiceRequest.Method])
    func `a body where none may be is refused`(method: ServiceRequest.Method) async throws {
        let error = try #require(try await error(method: method, body: RequestBody(Data("x".utf8))))
        #expect(error.code == .unsupported)
        #expect(error.message.contains(method.rawValue))
    }

    @Test func `the framing is the transport's own`() async throws {
        let body = RequestBody(Data("four".utf8))
        #expect(try await error(method: .post, headers: ["Content-Length": "5"], body: body)?.code == .badRequest)
        #expect(try await error(method: .post, headers: ["Content-Length": "4", "content-length": "5"], body: body)?.code == .badRequest)
        #expect(try await error(method: .post, headers: ["Transfer-Encoding": "chunked"], body: body)?.code == .badRequest)
    }

    @Test func `CONNECT is refused`() async throws {
        #expect(try await error(method: "CONNECT")?.code == .unsupported)
    }

    @Test func `an IPv6 literal is reached or refused as the capabilities say`() async throws {
        let code = try await error("http://[::1]:1/")?.code
        #expect(code == (transport.capabilities.contains(.ipv6Literals) ? .cannotConnect : .unsupported))
    }

    @Test func `the scheme may be written in capitals`() async throws {
        let server = try RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await error("HTTP://127.0.0.1:\(server.port)/") == nil)
    }
}
