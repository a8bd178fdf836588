import HTTPTransport
import TestSupport
import Testing

@Suite struct TraceContextTests {
    @Test func `a child keeps the trace, and its header is read back`() throws {
        for isSampled in [true, false] {
            let root = TraceContext.random(isSampled: isSampled)
            let child = root.child()
            #expect(child.traceID == root.traceID && child.span != root.span && child.isSampled == isSampled)
            let text = try #require(child.traceparent)
            #expect(text.utf8.count == 55 && text == text.lowercased())
            #expect(TraceContext(traceparent: text) == child)
        }
    }

    @Test func `a trace without a span has no header, and unknown flags aren't passed on`() throws {
        #expect(TraceContext(traceHigh: 0, traceLow: 7)?.traceparent == nil)
        let trace = try #require(TraceContext(traceHigh: 0, traceLow: 7, span: 8, flags: 0xFF))
        #expect(trace.traceparent == "00-00000000000000000000000000000007-0000000000000008-03")
    }

    // The cases of the specification's own test suite.
    @Test(arguments: [
        "00-12345678901234567890123456789012-1234567890123456-0", "00-12345678901234567890123456789012-1234567890123456-.0",
        "00-12345678901234567890123456789012-1234567890123456-1.", "00-00000000000000000000000000000000-1234567890123456-01",
        "00-12345678901234567890123456789012-0000000000000000-01", "00-1234567890123456789012345678901-1234567890123456-01",
        "00-123456789012345678901234567890123-1234567890123456-01", "00-12345678901234567890123456789012-123456789012345-01",
        "00-.2345678901234567890123456789012-1234567890123456-01", "0-12345678901234567890123456789012-1234567890123456-01",
        "00-1234567890123456789012345678901A-1234567890123456-01", "00-12345678901234567890123456789012-123456789012345F-01",
        "ff-12345678901234567890123456789012-1234567890123456-01", "FE-12345678901234567890123456789012-1234567890123456-01",
        "00-12345678901234567890123456789012-1234567890123456-01-what", "00-12345678901234567890123456789012-1234567890123456-01.",
        "cc-12345678901234567890123456789012-1234567890123456-01.what", "", "-", "---",
        "00-12345678901234567890123456789012-1234567890123456-01, 00-12345678901234567890123456789012-1234567890123456-01",
    ])
    func `an invalid traceparent is refused`(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(arguments: ["00", "01", "cc"]) func `later versions are read by the rules of the first`(version: String) {
        let text = version + "-12345678901234567890123456789012-1234567890123456-01"
        #expect(TraceContext(traceparent: text)?.spanID == "1234567890123456")
        #expect((TraceContext(traceparent: text + "-what-the-future-will-be-like") != nil) == (version != "00"))
    }

    @Test(arguments: [
        ("foo=1", "foo=1"), ("foo=1,bar=2", "foo=1,bar=2"), (" foo=1 ,\tbar=2\t", "foo=1,bar=2"), ("", ""), (",", ""), ("foo=1,,", "foo=1"),
        ("foo@tenant=1,0t@s=b c", "foo@tenant=1,0t@s=b c"), ("a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~", "a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~"),
    ])
    func `a tracestate keeps its order`(text: String, expected: String) {
        #expect(TraceState(text)?.description == expected)
    }

    @Test(arguments: [
        "foo", "foo=", "=1", "foo=1,foo=2", "Foo=1", "foo =1", "foo= ", "foo=a=b", "foo=é", "fo o=1", "a@b@c=1", "@s=1", "t@=1", "t@1s=1",
        "foo=1;bar=2,b a=1", "1foo=1", String(repeating: "k", count: 257) + "=1", "t@" + String(repeating: "s", count: 15) + "=1",
        "a=" + String(repeating: "v", count: 257), (0..<33).map { "k\($0)=1" }.joined(separator: ","),
    ])
    func `an invalid tracestate is dropped as a whole`(text: String) {
        #expect(TraceState(text) == nil)
    }

    @Test func `a tracestate has up to 32 entries`() {
        let text = (0..<32).map { "k\($0)=1" }.joined(separator: ",")
        #expect(TraceState(text)?.entries.count == TraceState.maximumEntries)
    }
}

@Suite struct BaggageTests {
    @Test func `values are percent-encoded and read back`() throws {
        var generator = SeededGenerator(seed: 7)
        let pool = Array("aZ09 ,;=%\"\\\té漢🙂&+-~\u{7F}\n")
        for _ in 0..<500 {
            var baggage = Baggage()
            for index in 0..<Int.random(in: 1...5, using: &generator) {
                let value = String((0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in pool.randomElement(using: &generator) })
                baggage.set(Baggage.Member("k\(index)", value, properties: Bool.random(using: &generator) ? ["ttl=30", "private"] : []))
            }
            let (text, problems) = baggage.fieldValue()
            let field = try #require(text)
            #expect(problems.isEmpty && field.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(Baggage.parse(field).baggage == baggage, "\(field)")
        }
    }

    @Test func `blanks around members, keys and properties don't count`() {
        let (baggage, problems) = Baggage.parse(" key1 = value1 ; p1 ; p2=x , key2=a%20b,, ")
        #expect(problems.isEmpty)
        #expect(baggage.members.map(\.key) == ["key1", "key2"] && baggage["key1"] == "value1" && baggage["key2"] == "a b")
        #expect(baggage.members[0].properties == ["p1", "p2=x"])
    }

    @Test(arguments: ["key", "=v", "k ey=v", "k=a b", "k=\"v\"", "k=%zz", "k=%2", "k=v;=x", "k=v;p=\"", "ké=v", "k=é"])
    func `an invalid member is left out and told`(text: String) {
        let (baggage, problems) = Baggage.parse("a=1,\(text),b=2")
        #expect(baggage.members.map(\.key) == ["a", "b"])
        #expect(problems.count == 1 && problems[0].contains("member 2"))
    }

    @Test func `a value that isn't UTF-8 has replacement characters`() {
        #expect(Baggage.parse("k=%FFa").baggage["k"] == "\u{FFFD}a")
    }

    @Test func `the last of several values of a key counts, and it is told`() {
        let (baggage, problems) = Baggage.parse("k=1,k=2")
        #expect(baggage["k"] == "2" && problems.count == 1)
    }

    @Test func `what exceeds the limits is left out and told`() {
        let many = Baggage((0..<70).map { Baggage.Member("k\($0)", "v") })
        let (text, problems) = many.fieldValue()
        #expect(text?.split(separator: ",").count == 64 && problems.count == 6)
        let large: Baggage = ["a": String(repeating: "x", count: 8_190), "b": "", "c": String(repeating: "é", count: 3_000)]
        let (short, told) = large.fieldValue()
        #expect(short?.utf8.count == 8_192 && told.count == 2)
        #expect(told.allSatisfy { !$0.contains("xx") })
    }

    @Test func `a member with an invalid key or property is never sent`() {
        var baggage: Baggage = ["bad key": "1", "k\r\nX": "2", "fine": "3", "": "4"]
        baggage.set(Baggage.Member("p", "5", properties: ["a,b"]))
        let (text, problems) = baggage.fieldValue()
        #expect(text == "fine=3" && problems.count == 4)
        baggage["fine"] = nil
        #expect(baggage.fieldValue().text == nil)
    }

    @Test func `propagation is read from a request, and what is invalid is told`() {
        let told = Locked<[String]>([])
        let diagnostics = Diagnostics { event in told.withLock { $0.append(event.message) } }
        let parent = "00-12345678901234567890123456789012-1234567890123456-01"
        let whole = TracePropagation(
            headers: ["Traceparent": parent, "tracestate": "a=1", "Tracestate": "b=2", "baggage": "k=v"], diagnostics: diagnostics)
        #expect(whole.trace?.traceparent == parent && whole.state.description == "a=1,b=2" && whole.baggage["k"] == "v")
        #expect(told.withLock { $0 }.isEmpty)
        let broken = TracePropagation(headers: ["traceparent": "x", "tracestate": "a=1", "baggage": "k"], diagnostics: diagnostics)
        #expect(broken == TracePropagation() && told.withLock { $0.count } == 2)
        let state = TracePropagation(headers: ["traceparent": parent, "tracestate": "a=1,a=2"], diagnostics: diagnostics)
        #expect(state.trace != nil && state.state.isEmpty && told.withLock { $0.count } == 3)
        #expect(TracePropagation(headers: [:]) == TracePropagation())
    }
}
