import HTTPTransport
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
