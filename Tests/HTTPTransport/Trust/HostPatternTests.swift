import Testing

@testable import HTTPTransport

@Suite struct HostPatternTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com"), ("API.Example.COM", "api.example.com"), ("api.example.com", "API.EXAMPLE.com."),
        ("api.example.com.", "api.example.com"), ("*.example.com", "api.example.com"), ("*.EXAMPLE.com", "A.example.com."),
        ("::1", "[0:0:0:0:0:0:0:1]"), ("[2001:DB8::1]", "2001:db8:0:0::1"), ("127.0.0.1", "127.0.0.1"),
        ("bücher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "Bücher.example"), ("localhost", "LOCALHOST"),
    ])
    func `A pattern matches`(pattern: String, host: String) {
        #expect(HostPattern(pattern).matches(host))
        #expect(HostPattern(pattern).fault == nil)
    }

    @Test(arguments: [
        ("api.example.com", "example.com"), ("api.example.com", "api.example.com.evil.test"), ("*.example.com", "example.com"),
        ("*.example.com", "a.b.example.com"), ("*.example.com", ".example.com"), ("*.example.com", "aexample.com"), ("::1", "::2"),
        ("*.example.com", "a.example.org"), ("127.0.0.1", "127.0.0.2"), ("api.example.com", ""),
    ])
    func `A pattern doesn't match`(pattern: String, host: String) {
        #expect(!HostPattern(pattern).matches(host))
    }

    @Test(arguments: [
        "", "*", "*.", "a.*.example.com", "*.*.example.com", "api*.example.com", "https://api.example.com", "api.example.com:443",
        "api.example.com/v1", "a b.example.com", "*.0.0.1", "*.[::1]", "a..example.com", ".example.com", "12::zz",
    ])
    func `A pattern that can't be right has a fault and matches nothing`(pattern: String) {
        #expect(HostPattern(pattern).fault != nil)
        #expect(!HostPattern(pattern).matches(pattern))
    }
}
