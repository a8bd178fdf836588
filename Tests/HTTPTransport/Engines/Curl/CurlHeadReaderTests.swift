import Testing

@testable import HTTPTransport

@Suite struct CurlHeadReaderTests {
    private func read(_ lines: [String], isConnected: Bool = true, into reader: inout CurlHeadReader) -> [CurlHead] {
        var heads: [CurlHead] = []
        for line in lines {
            let event = Array(line.utf8).withUnsafeBytes { reader.receive($0, isConnected: isConnected) }
            if case .head(let head) = event { heads.append(head) }
        }
        return heads
    }

    @Test func `the blank line completes the head`() {
        var reader = CurlHeadReader()
        let heads = read(["HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n"], into: &reader)
        #expect(heads.map(\.bytes) == [Array("HTTP/1.1 200 OK\r\nA: b\r\n".utf8)])
    }

    @Test func `informational heads come before the final one`() {
        var reader = CurlHeadReader()
        let lines = [
            "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "Link: a\r\n", "\r\n", "HTTP/1.1 204 None\r\n", "\r\n",
        ]
        let heads = read(lines, into: &reader)
        #expect(heads.count == 1)
        #expect(heads.first?.parsedInformational().map(\.status) == [100, 103])
        #expect(heads.first?.parsedInformational().last?.headers["Link"] == "a")
    }

    @Test func `switching protocols is final`() {
        var reader = CurlHeadReader()
        #expect(read(["HTTP/1.1 101 Switching\r\n", "\r\n"], into: &reader).count == 1)
    }

    @Test func `what comes after the head are trailers`() {
        var reader = CurlHeadReader()
        _ = read(["HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n", "Sum: 1\r\n", "\r\n"], into: &reader)
        #expect(HTTPFields(HTTPFields.Lines(reader.trailers)).map(\.value) == ["1"])
    }

    @Test func `before there is a connection only a proxy can answer`() {
        var reader = CurlHeadReader()
        #expect(read(["HTTP/1.1 407 No\r\n", "A: b\r\n", "\r\n"], isConnected: false, into: &reader).isEmpty)
        #expect(reader.tunnel?.parsed().status == 407)
        #expect(reader.trailers == [])
        #expect(read(["HTTP/1.1 200 Connection established\r\n", "\r\n"], isConnected: false, into: &reader).isEmpty)
        #expect(reader.tunnel == nil)
        #expect(read(["HTTP/1.1 200 OK\r\n", "\r\n"], into: &reader).count == 1)
    }

    @Test func `the length that a head tells is kept, and no other's`() {
        var reader = CurlHeadReader()
        _ = read(["HTTP/1.1 103 Early Hints\r\n", "Content-Length: 7\r\n", "\r\n"], into: &reader)
        _ = read(["HTTP/1.1 200 OK\r\n", "\r\n"], into: &reader)
        #expect(reader.bodyLength == 0)
        var other = CurlHeadReader()
        _ = read(["HTTP/1.1 200 OK\r\n", "content-length: 88000, 88000\r\n", "\r\n"], into: &other)
        #expect(other.bodyLength == 88_000)
        for value in ["4 2", "4x", "", "4,", "4, 5", "-4", "+4", "0x4", "1234567890123456789"] {
            var bad = CurlHeadReader()
            let event = Array("Content-Length: \(value)\r\n".utf8).withUnsafeBytes { bad.receive($0, isConnected: true) }
            guard case .badLength = event else {
                Issue.record("\(value) is no length")
                continue
            }
        }
        var huge = CurlHeadReader()
        _ = read(["HTTP/1.1 200 OK\r\n", "Content-Length: 999999999999999999\r\n", "\r\n"], into: &huge)
        #expect(huge.bodyLength == 999_999_999_999_999_999)
    }

    @Test func `what a head tells of its body is kept with it, and nothing that only looks like it`() {
        var reader = CurlHeadReader()
        _ = read(["HTTP/1.1 103 Early Hints\r\n", "Content-Encoding: gzip\r\n", "\r\n"], into: &reader)
        let plain = ["Content\rEncoding: gzip\r\n", "Content-Type: a\r\n", "Transfer-Encodin\u{1A}: a\r\n", "T:\r\n", "C\r\n"]
        let framing = read(["HTTP/1.1 200 OK\r\n"] + plain + ["\r\n"], into: &reader).first?.framing
        #expect(framing?.length == nil && framing?.isContentCoded == false && framing?.isTransferCoded == false)
        var other = CurlHeadReader()
        let lines = ["HTTP/1.1 200 OK\r\n", "content-encoding: br\r\n", "Content-LENGTH:7\n", "\n"]
        let told = read(lines, into: &other).first?.framing
        #expect(told?.length == 7 && told?.isContentCoded == true && told?.isTransferCoded == false)
        var coded = CurlHeadReader()
        let chunked = read(["HTTP/1.1 200 OK\r\n", "TRANSFER-Encoding: chunked\r\n", "\r\n"], into: &coded).first?.framing
        #expect(chunked?.isTransferCoded == true && chunked?.length == nil)
    }

    @Test func `informational heads have a bound`() {
        var reader = CurlHeadReader()
        let one = ["HTTP/1.1 103 Early Hints\r\n", "\r\n"]
        for _ in 0..<CurlHeadReader.informationalLimit { _ = read(one, into: &reader) }
        var full = reader
        #expect(read(["HTTP/1.1 200 OK\r\n", "\r\n"], into: &reader).first?.informational.count == CurlHeadReader.informationalLimit)
        _ = read(["HTTP/1.1 103 Early Hints\r\n"], into: &full)
        let event = Array("\r\n".utf8).withUnsafeBytes { full.receive($0, isConnected: true) }
        guard case .tooLarge = event else {
            Issue.record("\(event)")
            return
        }
    }

    @Test(arguments: [
        (["Connection: close"], true), (["connection:\tkeep-alive , CLOSE"], true),
        (["Connection: close", "Connection: keep-alive"], true), (["Connection: keep-alive"], false),
        (["Connection: closed, clos, close d"], false), (["Connection:"], false), ([], false), (["Connection-Close: close"], false),
    ])
    func `a connection that is closed behind the answer is told`(lines: [String], isClosing: Bool) {
        var reader = CurlHeadReader()
        let framing = read(["HTTP/1.1 200 OK\r\n"] + lines.map { $0 + "\r\n" } + ["\r\n"], into: &reader).first?.framing
        #expect(framing?.isClosing == isClosing && reader.isClosing == isClosing)
    }

    @Test(arguments: [1, 2, 3, 40, 510, 513, 5_000]) func `lines of any length are kept whole, however many there are`(length: Int) {
        var reader = CurlHeadReader()
        let fields = (0..<200).map { _ in String(repeating: "a", count: length - 1) + "\n" }.filter { $0.utf8.count > 1 }
        let trailers = ["T: 1\r\n"] + fields
        let heads = read(["HTTP/1.1 100 C\r\n", "\r\n", "HTTP/1.1 200 OK\r\n"] + fields.prefix(90) + ["\r\n"], into: &reader)
        #expect(heads.map(\.bytes) == [Array(("HTTP/1.1 200 OK\r\n" + fields.prefix(90).joined()).utf8)])
        #expect(heads.first?.informational == [Array("HTTP/1.1 100 C\r\n".utf8)])
        #expect(reader.trailers.isEmpty)
        _ = read(Array(trailers.prefix(90)) + ["\r\n"], into: &reader)
        #expect(reader.trailers == Array(trailers.prefix(90).joined().utf8))
    }

    @Test func `a head without lines is none that can be read`() {
        var reader = CurlHeadReader()
        let head = read(["\r\n"], into: &reader).first
        #expect(head?.status == 0 && head?.bytes == [] && head?.parsed().headers == [:])
    }

    @Test func `there is a bound`() {
        var reader = CurlHeadReader()
        let line = [UInt8](repeating: 65, count: 100_000)
        var isBounded = false
        for _ in 0..<11 {
            if case .tooLarge = line.withUnsafeBytes({ reader.receive($0, isConnected: true) }) { isBounded = true }
        }
        #expect(isBounded)
    }
}
