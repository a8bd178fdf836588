import Testing

@testable import HTTPTransport

@Suite struct ProxyCredentialsTests {
    private static let digest = """
        Digest username="Mu, \\"fa\\"", realm="a, nonce=b", nonce="n1", uri="one.example:443", nc=00000001, cnonce="c", qop=auth, response="r1"
        """

    @Test func `a digest's own parts in each request make no other key`() {
        let key = ProxyCredentials.key(Self.digest)
        let other = Self.digest.replacing("one.example", with: "two.example")
        let later = other.replacing("00000001", with: "00000002").replacing("r1", with: "r2")
        #expect(ProxyCredentials.key(later) == key)
        #expect(ProxyCredentials.key(Self.digest.replacing("Digest", with: "digest").replacing("username=", with: "UserName=")) == key)
    }

    @Test(arguments: [("Mu", "Mi"), ("a, nonce=b", "a, nonce=c"), ("n1", "n2"), ("username=", "username*="), ("nonce=\"", "other=\"")])
    func `another user, realm or challenge does`(part: String, other: String) {
        #expect(ProxyCredentials.key(Self.digest.replacing(part, with: other)) != ProxyCredentials.key(Self.digest))
    }

    @Test func `of other schemes, all counts`() {
        #expect(ProxyCredentials.key("Basic YTpi") == ProxyCredentials.key("Basic YTpi"))
        #expect(ProxyCredentials.key("Basic YTpi") != ProxyCredentials.key("Basic YTpj"))
        #expect(ProxyCredentials.key("Bearer a, nonce=b") != ProxyCredentials.key("Bearer a, nonce=c"))
        // All lines of the field go to the proxy, whichever it looks at.
        #expect(ProxyCredentials.key("Basic YTpj", with: 1) != ProxyCredentials.key("Basic YTpj", with: 2))
        for odd in ["", " ", "Digest", "Digest ,,=", "Digest username=\"", "Digest \\"] { _ = ProxyCredentials.key(odd) }
        #expect(ProxyCredentials.key("") != ProxyCredentials.key("Digest"))
    }
}
