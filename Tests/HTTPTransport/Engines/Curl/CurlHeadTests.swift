import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct CurlHeadTests {
    private func parsed(_ text: String) -> (status: Int, version: String?, headers: HTTPFields) {
        CurlHead(bytes: Array(text.utf8), informational: []).parsed()
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", 200, "HTTP/1.1"), ("HTTP/2 404 \r\n", 404, "HTTP/2"), ("HTTP/1.0 301\r\n", 301, "HTTP/1.0"),
        ("HTTP/1.1 2x0 OK\r\n", 0, "HTTP/1.1"),
    ])
    func `the status line tells version and status`(line: String, status: Int, version: String) {
        #expect(parsed(line).status == status)
        #expect(parsed(line).version == version)
    }

    @Test func `a line without a blank tells nothing`() {
        #expect(parsed("HTTP/1.1\r\n").status == 0)
        #expect(parsed("").status == 0)
    }

    @Test func `fields keep order, names and duplicates, and lose the blanks around their values`() {
        let headers = parsed("HTTP/1.1 200 OK\r\nX-B: two \t\r\nx-a:one\r\nX-B:  three\r\nEmpty:\r\nC: a:b\r\n").headers
        #expect(headers.map(\.name.rawName) == ["X-B", "x-a", "X-B", "Empty", "C"])
        #expect(headers.map(\.value) == ["two", "one", "three", "", "a:b"])
    }

    @Test func `a folded line goes on with the value before it`() {
        let headers = parsed("HTTP/1.1 200 OK\r\nA: one\r\n  two\r\n\tthree\r\nB:\r\n four\r\n").headers
        #expect(headers["A"] == "one two three")
        #expect(headers["B"] == "four")
        #expect(parsed("HTTP/1.1 200 OK\r\n folded: nothing\r\nA: b\r\n").headers.count == 1)
    }

    @Test func `bytes are UTF-8 where they can be, else Latin-1`() {
        let latin = CurlHead(bytes: Array("HTTP/1.1 200 OK\r\nA: caf".utf8) + [0xE9, 13, 10], informational: []).parsed().headers
        #expect(latin["A"] == "café")
        #expect(parsed("HTTP/1.1 200 OK\r\nA: café\r\n").headers["A"] == "café")
    }

    @Test func `lines without a name are no fields`() {
        let headers = parsed("HTTP/1.1 200 OK\r\nno colon here\r\n: no name\r\nA: b\r\n").headers
        #expect(headers.map(\.name.rawName) == ["A"])
    }

    @Test func `whatever comes is borne`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let alphabet: [UInt8] = [13, 10, 32, 9, 58, 0, 255, 65]
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...60, using: &random) { bytes.append(alphabet.randomElement(using: &random) ?? 0) }
            _ = CurlHead(bytes: bytes, informational: [bytes]).parsed()
            _ = CurlHead(bytes: bytes, informational: [bytes]).parsedInformational()
        }
    }
}
