import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct NoVarySearchTests {
    private static func variance(_ field: String...) -> NoVarySearch? {
        NoVarySearch(in: HTTPFields(field.map { HTTPFields.Field(name: NoVarySearch.field, value: $0) }))
    }

    /// Whether two queries have the same response by a field; `nil` if the field counts as absent.
    private static func areEquivalent(_ field: String, _ one: String, _ other: String) -> Bool? {
        variance(field).map { $0.canonical("https://example.com/a" + one) == $0.canonical("https://example.com/a" + other) }
    }

    @Test(
        arguments: [
            // The order of the parameters.
            ("key-order", "?a=1&b=2&c=3", "?b=2&a=1&c=3", true),
            ("key-order", "?a=1&b=2&a=3", "?a=1&a=3&b=2", true),
            ("key-order", "?a=1&b=2&a=3", "?a=3&a=1&b=2", false),
            ("key-order", "?a=1&b=2", "?b=2&a=1&c=3", false),
            ("key-order=?1", "?b&a", "?a&b", true),
            ("params=(\"c\")", "?a=1&b=2", "?b=2&a=1", false),
            // All parameters.
            ("params", "?a=1&b=2", "?c=3", true),
            ("params", "?a=1", "", true),
            ("params=?1", "?", "?x=1", true),
            // Some parameters.
            ("params=(\"utm_source\" \"utm_medium\")", "?id=1&utm_source=x", "?utm_medium=y&id=1", true),
            ("params=(\"a\")", "?a=1&b=2", "?b=2&a=9", true),
            ("params=(\"a\")", "?a=1&b=2", "?b=3&a=1", false),
            ("params=(\"a\"), key-order", "?c=1&b=2", "?a=0&b=2&c=1", true),
            // All but some.
            ("params, except=(\"product\")", "?product=1&session=2", "?session=3&product=1", true),
            ("params, except=(\"product\")", "?product=1", "?product=2", false),
            ("params, except=(\"a\" \"b\"), key-order", "?b=2&a=1&x=9", "?a=1&b=2", true),
            ("params, except=(\"a\" \"b\")", "?b=2&a=1&x=9", "?a=1&b=2", false),
            ("params, except=()", "?a=1", "?b=1", true),
            // Names in any spelling.
            ("params=(\"a+b\")", "?a%20b=1&c=2", "?c=2&a+b=2", true),
            ("params=(\"%C3%A9+%E6%B0%97\")", "?\u{E9}%20%E6%B0%97=1", "?%C3%A9+\u{6C17}=2", true),
            ("params=(\"caf%C3%A9\")", "?cafe%CC%81=1", "?cafe%CC%81=2", false),
            ("params=(\"a%2\")", "?a%2=1", "?a%252=2", true),
            ("key-order", "?%61=1&b=%32", "?b=2&a=1", true),
            ("key-order", "?a=%FF", "?a=%FE", true),
            ("key-order", "?a=1=2", "?a=1%3D2", true),
            ("key-order", "?a", "?a=", true),
            ("key-order", "?&&a=1&", "?a=1", true),
            ("key-order", "?a=1%26b=2", "?a=1&b=2", false),
            ("key-order", "?=1&a=2", "?a=2&=1", true),
            // Unknown members and parameters don't matter.
            ("params=(\"a\");x=1, other=2", "?a=1", "?a=2", true),
        ])
    func `queries are equivalent by the field`(field: String, one: String, other: String, areSame: Bool) {
        #expect(Self.areEquivalent(field, one, other) == areSame)
        #expect(Self.areEquivalent(field, other, one) == areSame)
    }

    @Test(
        arguments: [
            "", "key-order=?0", "params=?0", "params=()", "params=?0, except=(\"a\")", "key-order=1, params", "key-order=(\"a\"), params",
            "params=1", "params=\"a\"", "params=a", "params=(a)", "params=(\"a\" b)", "params=(\"a\" 1)", "except=(\"a\")",
            "params=(\"a\"), except=(\"b\")", "params, except", "params, except=\"a\"", "params, except=(a)", "params=(\"a\"",
            "params=(\"é\")", "params,", ",params", "Params", "params key-order", "params=(\"a\"),, key-order",
        ])
    func `a field that is malformed, or changes nothing, counts as absent`(field: String) {
        #expect(Self.variance(field) == nil)
    }

    @Test func `the lines of a field are one dictionary, and the last value of a key counts`() {
        #expect(Self.variance("key-order", "params=(\"a\")") == Self.variance("params=(\"a\"), key-order"))
        #expect(Self.variance("params=1", "params") == Self.variance("params"))
        #expect(NoVarySearch(in: [:]) == nil)
    }

    @Test func `the canonical form stays the same, and other paths and hosts differ`() throws {
        var generator = SeededGenerator(seed: 5)
        let pieces = ["a", "b", "=", "&", "+", "%20", "%C3%A9", "%FF", "%", "?", "/", "utm", "1", "%26", "%3D"]
        for field in ["key-order", "params=(\"a\" \"b\")", "params, except=(\"a\" \"utm1\")", "params", "key-order, params=(\"1\")"] {
            let variance = try #require(Self.variance(field))
            for _ in 0..<Sweep.rounds(ofAll: 2_000) {
                let query = (0..<Int.random(in: 0...9, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                let url = "https://example.com/a?" + query.joined()
                let canonical = variance.canonical(url)
                #expect(variance.canonical(canonical) == canonical)
                #expect(URL(string: canonical).flatMap(CacheKey.text) == canonical)
            }
            #expect(variance.canonical("https://example.com/a?b") != variance.canonical("https://example.com/b?b"))
            #expect(variance.canonical("https://example.com/a") != variance.canonical("https://example.org/a"))
        }
    }

    // MARK: The cache

    private static func setup(_ headers: HTTPFields, cache: ResponseCache = ResponseCache()) -> CachingTests.Setup {
        var all: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        all.replace(with: headers)
        return CachingTests.Setup(cache: cache, CachingTests.counting(all))
    }

    @Test func `a response answers all equivalent URLs, and no others`() async throws {
        let setup = Self.setup(["No-Vary-Search": "key-order, params=(\"utm_source\")"])
        #expect(try await setup.get("/a?id=1&utm_source=mail&page=2").value == "1")
        let second = try await setup.get("/a?page=2&id=1&utm_source=web")
        #expect(second.value == "1" && second.source == .cache && second.url.query == "page=2&id=1&utm_source=web")
        #expect(try await setup.get("/a?page=2&id=1").source == .cache)
        #expect(try await setup.get("/a?page=3&id=1").value == "2")
        #expect(try await setup.get("/b?page=2&id=1").value == "3")
        #expect(try await setup.get("/a?id=1&page=3").source == .cache)
        #expect(setup.sent == 3)
    }

    @Test func `without the field, or with a malformed one, each URL has its response`() async throws {
        for headers in [[:], ["No-Vary-Search": "params=(a)"]] as [HTTPFields] {
            let setup = Self.setup(headers)
            #expect(try await setup.get("/a?b=1").value == "1")
            #expect(try await setup.get("/a?b=2").value == "2")
            #expect(try await setup.get("/a?b=1").source == .cache)
        }
    }

    @Test func `a response without the field isn't used for another URL`() async throws {
        let count = Locked(0)
        let setup = CachingTests.Setup(
            .answering { request in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                var headers: HTTPFields = ["Cache-Control": "max-age=60"]
                if number > 1 { headers["No-Vary-Search"] = "params=(\"x\")" }
                return .text("\(number)", headers: headers)
            })
        #expect(try await setup.get("/a?id=1").value == "1")
        #expect(try await setup.get("/a?id=2&x=1").value == "2")
        #expect(try await setup.get("/a?id=2&x=2").value == "2")
        #expect(try await setup.get("/a?id=1&x=2").value == "3", "the first response had no field")
    }

    @Test func `an unsafe call to an equivalent URL invalidates`() async throws {
        let setup = Self.setup(["No-Vary-Search": "params=(\"x\")"])
        #expect(try await setup.get("/a?x=1").value == "1")
        try await setup.client.http.post("/a?x=7").send()
        #expect(try await setup.get("/a?x=2").value == "3")
    }

    @Test func `a stale response is validated for another URL, and another field replaces it`() async throws {
        let field = Locked("params=(\"x\")")
        let setup = CachingTests.Setup(
            .answering { request in
                let headers: HTTPFields = ["Cache-Control": "max-age=10", "ETag": "\"1\"", "No-Vary-Search": field.withLock { $0 }]
                return request.request.headers["If-None-Match"] == nil
                    ? .text(request.request.url.query ?? "", headers: headers) : .status(304, headers: headers)
            })
        #expect(try await setup.get("/a?x=1").value == "x=1")
        setup.clock.advance(by: .seconds(20))
        let validated = try await setup.get("/a?x=2")
        #expect(validated.value == "x=1" && validated.source == .validated)
        #expect(try await setup.get("/a?x=3").source == .cache)
        setup.clock.advance(by: .seconds(20))
        field.withLock { $0 = "params=(\"y\")" }
        #expect(try await setup.get("/a?x=4").value == "x=4", "the stored response isn't that of this URL any more")
    }

    @Test func `another run of the program learns the field again`() async throws {
        let folder = TemporaryFolder()
        let directory = folder.url.appending(path: "cache")
        let headers: HTTPFields = ["No-Vary-Search": "params=(\"x\")"]
        let store = DiskCacheStore(directory: directory)
        let first = Self.setup(headers, cache: ResponseCache(store: store))
        #expect(try await first.get("/a?id=1&x=1").value == "1")
        await store.written()
        let second = Self.setup(headers, cache: ResponseCache(store: DiskCacheStore(directory: directory)))
        #expect(try await second.get("/a?id=1").source == .cache, "the canonical URL itself")
        #expect(try await second.get("/a?id=2&x=1").value == "1")
        #expect(try await second.get("/a?id=1&x=9").source == .cache)
    }

    @Test func `the fields of at most a thousand URLs are kept`() {
        var variances = SearchVariances()
        let variance = Self.variance("params")
        for number in 0..<5_000 { if let variance { variances.note(variance, of: "https://example.com/\(number)?a") } }
        #expect(variances.canonical("https://example.com/4999?b=1") == "https://example.com/4999")
        #expect(variances.canonical("https://example.com/0?b=1") == nil)
    }
}
