import Foundation
import Testing

@testable import OData

/// Responses inside of a body.
@Suite struct EmbeddedResponseTests {
    @Test func `a response is read with either line end, with and without a length`() throws {
        for end in ["\r\n", "\n"] {
            let text = ["HTTP/1.1 201 Created now", "Content-Type: text/plain", "X: 1", "", "a\(end)\(end)b"].joined(separator: end)
            let response = try EmbeddedResponse(Data((end + text).utf8))
            #expect(response.status == 201 && response.headers["X"] == "1" && response.headers[.contentType] == "text/plain")
            #expect(response.body == Data("a\(end)\(end)b".utf8))
            let bounded = try EmbeddedResponse(Data("HTTP/1.1 200\(end)Content-Length: 2\(end)\(end)abc".utf8))
            #expect(bounded.body == Data("ab".utf8))
            #expect(try EmbeddedResponse(Data("HTTP/1.1 204 No Content\(end)X: 1\(end)".utf8)).headers["X"] == "1")
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ]) func `other texts than responses are refused`(text: String) {
        #expect(throws: EmbeddedResponse.Fault.self) { try EmbeddedResponse(Data(text.utf8)) }
    }

    @Test func `a response cut at any byte is read or refused`() {
        let text = Data("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)
        for count in 0..<text.count { #expect((try? EmbeddedResponse(text.prefix(count)))?.body ?? Data() == Data()) }
        #expect(throws: EmbeddedResponse.Fault.self) {
            try EmbeddedResponse(Data("HTTP/1.1 200 OK\r\n".utf8) + Data(repeating: 0x61, count: 300_000) + Data("\r\n\r\n".utf8))
        }
    }
}
