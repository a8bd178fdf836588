import Foundation
import TestSupport
import Testing
import WebServiceClient
@_spi(Fuzzing) import WebServiceTesting

@Suite struct HARReaderTests {
    /// An archive with the peculiarities of Chrome's and Firefox's: `_` fields, sizes of -1, pseudo-fields, compressed bodies that are
    /// decoded, bodies in Base64, fields joined by line feeds, a body that is missing, a request that failed.
    static let browser = Data(
        #"""
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "browser": {"name": "Firefox"},
          "entries": [
            {"_initiator": {"type": "script", "stack": {"callFrames": []}}, "_priority": "High", "connection": "443", "pageref": "page_1",
             "startedDateTime": "2026-03-01T10:00:00.123+01:00", "time": 85.2,
             "request": {"method": "GET", "url": "https://api.example/users/1?b=2&a=1", "httpVersion": "http/2.0", "headersSize": -1,
               "bodySize": 0, "cookies": [], "queryString": [], "headers": [{"name": ":authority", "value": "api.example"}]},
             "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "redirectURL": "", "headersSize": -1, "bodySize": -1,
               "_transferSize": 512, "_error": null, "cookies": [],
               "headers": [{"name": "content-encoding", "value": "gzip"}, {"name": "content-length", "value": "40"},
                 {"name": "content-type", "value": "application/json; charset=iso-8859-1"}, {"name": "set-cookie", "value": "a=1\nb=2"}],
               "content": {"size": 15, "mimeType": "application/json", "text": "{\"name\": \"Ü\"}", "compression": -3}},
             "cache": {}, "timings": {"blocked": 1.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1, "wait": 80, "receive": 5.2}},
            {"request": {"method": "POST", "url": "https://api.example/form", "headers": [],
               "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "c&d"}]}},
             "response": {"status": 200, "content": {"encoding": "base64", "mimeType": "image/png", "text": "iVBO\nRw=="}}},
            {"request": {"method": "GET", "url": "https://api.example/big"},
             "response": {"status": 200, "content": {"size": 123456, "mimeType": "video/mp4"}}},
            {"request": {"method": "GET", "url": "https://down.example/"},
             "response": {"status": 0, "_error": "net::ERR_CONNECTION_REFUSED", "content": {"size": 0, "mimeType": "x-unknown"}}}
          ]}}
        """#.utf8)

    @Test func `a browser's archive is replayed`() async throws {
        let exchanges = try Cassette.exchanges(in: Self.browser, of: "b.har")
        #expect(exchanges.count == 4 && exchanges[0].timeToEnd == .microseconds(85_200) && exchanges[0].requestFields.isEmpty)
        #expect(exchanges[0].startedAt == ISO8601.date(from: "2026-03-01T09:00:00.123Z"))
        let cassette = Cassette(exchanges)
        let replay = cassette.transport()
        // A recording without a key fits every key.
        let response = try await replay.send(request(.get, "https://api.example/users/1?a=1&b=2"))
        #expect(try await text(of: response) == "{\"name\": \"Ü\"}")
        #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        #expect(response.headers[.contentEncoding] == "gzip" && response.headers[values: .setCookie] == ["a=1", "b=2"])
        let form = RequestBody(Data("a%20b=c%26d".utf8), contentType: "application/x-www-form-urlencoded")
        let image = try await replay.send(request(.post, "https://api.example/form", body: form))
        #expect(image.body.data == Data([0x89, 0x50, 0x4E, 0x47]) && image.headers[.contentType] == "image/png")
        let missing = await #expect(throws: TestingFailure.self) { try await replay.send(request(.get, "https://api.example/big")) }
        #expect(missing?.description.contains("has no body") == true)
        let refused = await #expect(throws: TransportError.self) { try await replay.send(request(.get, "https://down.example/")) }
        #expect(refused?.code == .other && refused?.message == "net::ERR_CONNECTION_REFUSED")
        #expect(cassette.uncalledKeys.isEmpty)
    }

    @Test(arguments: [
        ("", "isn't JSON"), ("[]", "log is missing"), ("{\"log\": 1}", "log is missing"),
        ("{\"log\": {\"version\": \"2.0\", \"entries\": []}}", "log.version is “2.0”"),
        ("{\"log\": {\"entries\": {}}}", "log.entries is missing"),
        ("{\"log\": {\"entries\": [1]}}", "log.entries[0].request is missing"),
        ("{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\"}, \"response\": {}}]}}", "log.entries[0].request.url is missing"),
        ("{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"/\"}}]}}", "log.entries[0].response is missing"),
        (
            "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"/\"}, \"response\": {\"status\": \"200\"}}]}}",
            "log.entries[0].response.status isn't a status"
        ),
        ("{\"log\": {\"entries\": [\n{\"request\": }]}}", "line 2"),
    ]) func `a broken archive is an error with its place`(text: String, message: String) {
        let failure = #expect(throws: TestingFailure.self) { try Cassette.exchanges(in: Data(text.utf8), of: "bad.har") }
        #expect(failure?.description.hasPrefix("bad.har") == true && failure?.description.contains(message) == true, "\(failure as Any)")
    }

    @Test func `values of other types and requests without a response are read`() throws {
        let text = #"""
            {"log": {"version": 1.2, "entries": [
              {"request": {"method": "GET", "url": "https://a.test/x", "headers": [{"name": "X-N", "value": 2}, {"name": "X-B", "value": true}]},
               "response": {"status": 200, "headers": [{"name": "X-0", "value": null}, {"name": "X-1"}], "content": null}},
              {"request": {"method": "GET", "url": "https://a.test/y"}, "response": {"status": -1}},
              {"request": {"method": "GET", "url": "https://a.test/z"}, "response": {"status": null, "headers": null}}
            ]}}
            """#
        let exchanges = try Cassette.exchanges(in: Data(text.utf8), of: "odd.har")
        #expect(exchanges.map(\.status) == [200, 0, 0] && exchanges.map { $0.failure != nil } == [false, true, true])
        #expect(exchanges[0].requestFields.map(\.value) == ["2", "true"] && exchanges[0].responseFields.map(\.value) == ["", ""])
        let list = Data(text.replacing(#""value": null"#, with: #""value": []"#).utf8)
        let failure = #expect(throws: TestingFailure.self) { try Cassette.exchanges(in: list, of: "odd.har") }
        #expect(failure?.description.contains("entries[0].response.headers[0] has no name, or its value") == true, "\(failure as Any)")
    }

    @Test func `entries that aren't HTTP answer no call`() throws {
        let urls = [
            "data:text/plain,x", "chrome-extension://a/x", "wss://a.test/x", "blob:https://a.test/x", "HTTPS://a.test/x", "/x", "/x:y",
        ]
        let entries = urls.map { #"{"request": {"method": "GET", "url": "\#($0)"}, "response": {"status": 200}}"# }
        let text = #"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#
        #expect(try Cassette.exchanges(in: Data(text.utf8), of: "a.har").map(\.url) == ["HTTPS://a.test/x", "/x", "/x:y"])
    }

    @Test func `a deep text is an error`() {
        let text = Data(repeating: UInt8(ascii: "["), count: 100_000)
        let failure = #expect(throws: TestingFailure.self) { try Cassette.exchanges(in: text, of: "deep.har") }
        #expect(failure?.description.contains("nested") == true, "\(failure as Any)")
    }

    @Test(arguments: [
        (#""content": {"text": "%%%", "encoding": "base64"}"#, "content.text isn't Base64"),
        (#""content": {"text": "abc", "_pieces": [1, 1]}"#, "content._pieces doesn't add up"),
        (#""content": {"text": "abc", "_pieces": [9223372036854775807, 9223372036854775807, 5]}"#, "content._pieces"),
        (#""headers": {"a": 1}"#, "response.headers isn't an array"), (#""headers": [{"value": "a"}]"#, "response.headers[0] has no name"),
    ]) func `a broken response is an error with its place`(part: String, message: String) {
        let text = #"{"log": {"entries": [{"request": {"method": "GET", "url": "/"}, "response": {"status": 200, \#(part)}}]}}"#
        let failure = #expect(throws: TestingFailure.self) { try Cassette.exchanges(in: Data(text.utf8), of: "bad.har") }
        #expect(failure?.description.contains(message) == true, "\(failure as Any)")
    }

    @Test func `random recordings are read as they were written`() throws {
        for seed in 0..<UInt64(Sweep.rounds(ofAll: 200)) {
            var generator = SeededGenerator(seed: seed)
            let exchanges = (0..<Int.random(in: 0...4, using: &generator)).map { _ in Self.random(&generator) }
            let archive = Cassette.archive(of: exchanges)
            let read = try Cassette.exchanges(in: archive, of: "r.har")
            #expect(read == exchanges, "seed \(seed)")
            #expect(Cassette.archive(of: read) == archive, "seed \(seed)")
        }
    }

    private static func random(_ generator: inout SeededGenerator) -> RecordedExchange {
        func text(_ count: Int) -> String {
            let characters = Array("abc \"\\/\n\t\u{0}\u{7F}äß€🦊\u{301}{}[]:,%&=<>")
            return String((0..<count).map { _ in characters.randomElement(using: &generator) ?? "x" })
        }
        func bytes() -> Data {
            Data((0..<Int.random(in: 1...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        func body() -> Data { Bool.random(using: &generator) ? bytes() : Data(text(Int.random(in: 0...20, using: &generator)).utf8) }
        var exchange = RecordedExchange(
            key: Bool.random(using: &generator) ? "user(id:)" : "", method: "PO" + "ST", url: "https://api.example/" + text(3),
            requestFields: [.init(name: "Content-Type", value: "text/plain"), .init(name: "X", value: text(2).replacing("\n", with: ""))],
            requestBody: body(), status: [200, 404, 0].randomElement(using: &generator) ?? 200,
            responseFields: [.init(name: "content-type", value: "text/plain; charset=iso-8859-1")], responseBody: body(),
            startedAt: Date(timeIntervalSince1970: Double(Int.random(in: 0...2_000_000_000, using: &generator))))
        exchange.httpVersion = ["HTTP/1.1", "HTTP/2"].randomElement(using: &generator)
        exchange.timeToHead = .milliseconds(Int.random(in: 0...1_000, using: &generator))
        exchange.timeToEnd = (exchange.timeToHead ?? .zero) + .milliseconds(Int.random(in: 0...1_000, using: &generator))
        if exchange.status == 0 || Bool.random(using: &generator) {
            exchange.failure = .init(code: .timedOutIdle, message: text(5))
            exchange.failure?.isUnprocessed = Bool.random(using: &generator)
        }
        exchange.isCut = Bool.random(using: &generator)
        exchange.isRequestBodyOmitted = Bool.random(using: &generator)
        if exchange.isRequestBodyOmitted { exchange.requestBody = Data() }
        if let count = exchange.responseBody?.count, count > 3, Bool.random(using: &generator) { exchange.pieces = [1, count - 3, 2] }
        if Int.random(in: 0...5, using: &generator) == 0 { (exchange.responseBody, exchange.pieces) = (nil, []) }
        return exchange
    }
}
