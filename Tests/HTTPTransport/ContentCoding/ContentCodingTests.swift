import Testing

@_spi(Fuzzing) @testable import HTTPTransport

@Suite struct ContentCodingTests {
    @Test func `names count without regard to case, and zlib's libraries are everywhere`() {
        #expect(ContentCoding(name: "GZip") == .gzip)
        #expect(ContentCoding(name: "x-gzip") == .gzip)
        #expect(ContentCoding(name: "BR") == .brotli)
        #expect(ContentCoding(name: "compress") == nil)
        #expect(ContentCoding(name: "") == nil)
        #expect(ContentCoding.allCases.allSatisfy { ContentCoding(name: $0.name) == $0 })
    }

    @Test func `what can be undone is offered`() {
        let offered = ContentCoding.acceptable?.split(separator: ", ").map(String.init) ?? []
        #expect(offered == ContentCoding.allCases.filter(\.isAvailable).map(\.name))
    }

    @Test(
        .enabled("zlib isn't here") { ContentCoding.gzip.isAvailable },
        arguments: [
            ("gzip", [ContentCoding.gzip]), ("X-GZIP", [.gzip]), (" gzip ,\tdeflate", [.gzip, .deflate]), ("identity", []),
            ("Identity, gzip", [.gzip]), (",, gzip,", [.gzip]), ("", []), ("unheard-of", []), ("gzip, unheard-of", []),
            ("unheard-of, gzip", []), ("gzip;q=1", []), ("gzip gzip", []),
            ("gzip, gzip, gzip, gzip, gzip", Array(repeating: .gzip, count: 5)),
        ] as [(String, [ContentCoding])])
    func `a list is undone whole, or not at all`(list: String, codings: [ContentCoding]) throws {
        #expect(try ContentCoding.ofBody(["Content-Encoding": list], host: "a") == codings)
    }

    @Test(.enabled("zlib isn't here") { ContentCoding.gzip.isAvailable }) func `several fields are one list`() throws {
        let headers: HTTPFields = ["Content-Encoding": "deflate", "Content-Length": "1", "content-encoding": "gzip"]
        #expect(try ContentCoding.ofBody(headers, host: "a") == [.deflate, .gzip])
        #expect(try ContentCoding.ofBody([:], host: "a") == [])
    }

    @Test(.enabled("zlib isn't here") { ContentCoding.gzip.isAvailable }) func `a tower of codings is refused`() {
        let tower = Array(repeating: "gzip", count: 6).joined(separator: ", ")
        let error = #expect(throws: TransportError.self) { try ContentCoding.ofBody(["Content-Encoding": tower], host: "a.example") }
        #expect(error?.code == .unreadableResponse)
        #expect(error?.message.contains("a.example") == true)
    }
}
