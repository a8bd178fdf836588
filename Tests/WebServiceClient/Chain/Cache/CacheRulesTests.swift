import Foundation
import HTTPTransport
import Testing

@testable import WebServiceClient

@Suite struct CacheRulesTests {
    // MARK: Cache-Control

    @Test func `directives have tokens or quoted texts as arguments`() {
        let control = CacheControl(["max-age=60, NO-CACHE=\"Set-Cookie, X-A\"", " private ,, community=\"a\\\"b,c\" "])
        #expect(control.directives.map(\.name) == ["max-age", "no-cache", "private", "community"])
        #expect(control.count("max-age") == 60)
        #expect(control.fieldNames("no-cache") == ["Set-Cookie", "X-A"])
        #expect(control.has("no-cache") && !control.hasPlain("no-cache") && control.hasPlain("private"))
        #expect(control.directives.last?.argument == "a\"b,c")
    }

    @Test(arguments: ["-1", "1.5", "60a", "", "\"-1\"", "0x10", "１"])
    func `a number that can't be read counts as unreadable`(text: String) {
        #expect(CacheControl(["max-age=\(text)"]).seconds("max-age") == .unreadable)
    }

    @Test func `large numbers are bounded, the first of several counts, quotes are fine`() {
        #expect(CacheControl(["max-age=99999999999999999999999999"]).count("max-age") == 2_147_483_648)
        #expect(CacheControl(["max-age=1, max-age=1000"]).count("max-age") == 1)
        #expect(CacheControl(["max-age=\"003600\""]).count("max-age") == 3_600)
        #expect(CacheControl(["x=\"max-age=3600\""]).seconds("max-age") == nil)
    }

    @Test(arguments: ["", ",", "\"", "=", "=5", "a=\"", "\\", "max-age", "max-age=\"\\", "\u{0}=1", "ä=1"])
    func `odd texts are read without a fault`(text: String) {
        let control = CacheControl([text])
        #expect(control.count("max-age") == nil)
    }

    // MARK: Dates

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sunday, 06-Nov-94 08:49:37 GMT", true), ("Sun Nov  6 08:49:37 1994", true),
        ("Sun Nov 16 08:49:37 1994", true), ("sun, 06 NOV 1994 08:49:37 gmt", true), ("Sun, 06 Nov 1994 08:49:37 UTC", false),
        ("Sun, 6 Nov 1994 08:49:37 GMT", false), ("Sun, 06 Nov 94 08:49:37 GMT", false), ("Sun 06 Nov 1994 08:49:37 GMT", false),
        ("Sun, 06  Nov 1994 08:49:37 GMT", false), ("Sun, 06-Nov-1994 08:49:37 GMT", false), ("Sun, 06 Nov 1994 8:49:37 GMT", false),
        ("Sun, 06 Nov 1994 08.49.37 GMT", false), ("Sun, 06 Nov 1994 08:49:37", false), ("Sun Nov 6 08:49:37 1994", false),
        ("Sunday, 06 Nov 1994 08:49:37 GMT", false), ("Sun, 31 Feb 1994 08:49:37 GMT", false), ("0", false), ("", false), ("   ", false),
    ])
    func `only dates of RFC 9110 count`(text: String, isDate: Bool) {
        #expect((HTTPDate.strictDate(from: text) != nil) == isDate)
    }

    // MARK: Freshness

    private static let received = Date(timeIntervalSince1970: 1_800_000_000)

    private func freshness(_ headers: HTTPFields, status: Int = 200) -> CacheFreshness {
        CacheFreshness(status: status, headers: headers, requested: Self.received, received: Self.received)
    }

    @Test func `max-age wins over Expires, even if it can't be read`() {
        let later = HTTPDate.text(of: Self.received.addingTimeInterval(1_000))
        #expect(freshness(["Cache-Control": "max-age=60", "Expires": later]).lifetime == 60)
        #expect(freshness(["Cache-Control": "max-age=60x", "Expires": later]).lifetime == 0)
        #expect(freshness(["Expires": later]).lifetime == 1_000)
        var several: HTTPFields = ["Expires": later]
        several.append("Expires", later)
        #expect(freshness(several).lifetime == 0)
    }

    @Test func `the guess is a tenth of the time since the last change, at most a day`() {
        let date = HTTPDate.text(of: Self.received)
        func modified(_ seconds: Double) -> HTTPFields {
            ["Date": date, "Last-Modified": HTTPDate.text(of: Self.received.addingTimeInterval(-seconds))]
        }
        #expect(freshness(modified(1_000)).lifetime == 100)
        #expect(freshness(modified(100_000_000)).lifetime == 86_400)
        #expect(freshness(modified(-1_000)).lifetime == 0)
        #expect(freshness(modified(1_000), status: 500).lifetime == 0)
    }

    @Test(arguments: [
        ("10", 10.0), ("10, 20", 10), ("-5", 0), ("1.5", 0), ("x", 0), ("", 0), ("99999999999999999999", 2_147_483_648), (" 7 ", 7),
    ])
    func `an Age that isn't a number is ignored`(text: String, age: Double) {
        #expect(freshness(["Age": text]).initialAge == age)
    }

    @Test(arguments: [
        ("max-age=60, must-understand", 200, true), ("max-age=60, must-understand", 302, true), ("max-age=60, must-understand", 418, false),
        ("max-age=60, must-understand", 599, false), ("max-age=60, no-store, must-understand", 200, true),
        ("max-age=60, no-store, must-understand", 206, false), ("max-age=60, no-store, must-understand", 599, false),
        ("max-age=60, no-store", 200, false), ("max-age=60", 599, true),
    ])
    func `must-understand keeps what has a known status, also in spite of no-store`(control: String, status: Int, isStored: Bool) {
        #expect(CacheFreshness.allowsStoring(status: status, headers: ["Cache-Control": control]) == isStored)
    }

    @Test func `a response that arrives stale is kept for requests that accept it`() {
        #expect(freshness(["Cache-Control": "max-age=60", "Age": "90"]).isUseful([:]))
        #expect(!freshness(["Cache-Control": "max-age=0"]).isUseful([:]))
    }

    @Test func `a clock that was set back makes a response of another process stale`() {
        let head = CacheHead(
            key: CacheKey(url: "http://a/"), status: 200, headers: ["Cache-Control": "max-age=60"], requested: Self.received,
            received: Self.received)
        let clock = ManualCallClock()
        #expect(clock.date < Self.received)
        #expect(CacheRules().verdict(on: head, at: CacheMoment(clock.clock)) == .validate)
    }

    // MARK: Keys

    @Test func `keys have the normal form of the origin, and neither fragment nor password`() throws {
        func key(_ text: String) throws -> String? { CacheKey.text(of: try #require(URL(string: text))) }
        #expect(try key("HTTP://Example.com:80/A?b=%41#c") == "http://example.com/A?b=%41")
        #expect(try key("https://example.com?x") == "https://example.com/?x")
        #expect(try key("https://example.com") == "https://example.com/")
        #expect(try key("https://ada:secret@example.com/") == nil)
        #expect(try key("file:///etc/passwd") == nil)
    }

    @Test func `ranges`() {
        #expect(ByteRange("bytes=0-1")?.bytes(of: 11) == 0..<2)
        #expect(ByteRange("bytes=-5")?.bytes(of: 11) == 6..<11)
        #expect(ByteRange("bytes=5-")?.bytes(of: 11) == 5..<11)
        #expect(ByteRange("bytes=0-99999999999")?.bytes(of: 11) == 0..<11)
        #expect(ByteRange("bytes=-0")?.bytes(of: 11) == nil)
        #expect(ByteRange("bytes=11-")?.bytes(of: 11) == nil)
        #expect(ByteRange("bytes=0-9223372036854775807")?.bytes(of: 3) == 0..<3)
        for text in ["bytes=2-1", "bytes=0-1,3-4", "items=0-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=99999999999999999999-"] {
            #expect(ByteRange(text) == nil, "\(text)")
        }
    }

    @Test func `a head survives its encoding, and no cut one is read`() throws {
        let head = CacheHead(
            key: CacheKey(partition: "p", url: "http://a/ü"), status: 203, headers: ["ETag": "\"1\"", "Vary": "X"],
            requested: Self.received,
            received: Self.received, tags: ["a", ""], identifier: "id", bodyLength: 5,
            part: CacheHead.Part(requested: "bytes=0-", first: 3, total: nil),
            selection: [SelectingField(name: "x", value: nil), SelectingField(name: "y", value: "")], httpVersion: "HTTP/2")
        let bytes = head.encoded
        let read = try #require(CacheHead(encoded: bytes))
        #expect(read.headers == head.headers && read.key == head.key && read.selectsTheSame(as: head) && read.part == head.part)
        #expect(read.tags == head.tags && read.identifier == "id" && read.freshness == head.freshness && read.id == head.id)
        for count in 0..<bytes.count { #expect(CacheHead(encoded: bytes.prefix(count)) == nil) }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0xFF
            _ = CacheHead(encoded: changed)
        }
    }
}
