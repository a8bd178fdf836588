import Testing

@testable import WebServiceClient

@Suite struct DigestChallengeTests {
    private func strongest(_ lines: String...) -> DigestChallenge? {
        DigestChallenge.strongest(of: AuthenticationChallenge.challenges(in: lines))
    }

    @Test func `every parameter is read, names and flags in any case`() throws {
        let challenge = try #require(
            strongest(
                #"dIGEST Realm="r", NONCE="n", Opaque="o", Algorithm="sha-256-SESS", QOP="auth", Stale=TRUE, UserHash=True, charset="utf-8""#
            ))
        #expect(challenge.realm == "r")
        #expect(challenge.nonce == "n")
        #expect(challenge.opaque == "o")
        #expect(challenge.algorithm == DigestAlgorithm(.sha256, isSession: true))
        #expect(challenge.algorithmName == "sha-256-SESS")
        #expect(challenge.quality == .authentication)
        #expect(challenge.isStale && challenge.hashesUserName && challenge.announcesUTF8)
    }

    @Test func `the strongest hash wins, then the server's order`() {
        let md5 = "Digest realm=r, nonce=md5, qop=auth"
        let sha256 = "Digest realm=r, nonce=sha256, qop=auth, algorithm=SHA-256"
        let session = "Digest realm=r, nonce=session, qop=auth, algorithm=SHA-256-sess"
        let sha512 = "Digest realm=r, nonce=sha512, qop=auth, algorithm=SHA-512-256"
        #expect(strongest(md5, sha256)?.nonce == "sha256")
        #expect(strongest(sha256, md5)?.nonce == "sha256")
        #expect(strongest(md5, sha512, sha256)?.nonce == "sha512")
        #expect(strongest(session, sha256)?.nonce == "session")
        #expect(strongest("Basic realm=r", md5)?.nonce == "md5")
    }

    @Test func `what we can't do is skipped`() {
        let md5 = "Digest realm=r, nonce=md5"
        #expect(strongest("Digest realm=r, nonce=n, algorithm=SHA-1024", md5)?.nonce == "md5")
        #expect(strongest("Digest realm=r, nonce=n, algorithm=SHA-256, qop=auth-conf", md5)?.nonce == "md5")
        #expect(strongest("Digest realm=r, nonce=n, algorithm=MD5-sess") == nil)
        #expect(strongest("Digest nonce=n", "Digest realm=r", "Basic realm=r, nonce=n", "") == nil)
        #expect(strongest("Digest realm=\"a\u{0}b\", nonce=n") == nil)
        #expect(strongest("Digest realm=r, nonce=\"a\r\nX: y\"") == nil)
        #expect(strongest("Digest realm=r, nonce=n, opaque=\"\u{7f}\"") == nil)
    }

    @Test func `auth where it is offered, auth-int where nothing else is, none for old servers`() {
        #expect(strongest(#"Digest realm=r, nonce=n, qop="auth-int,auth""#)?.quality == .authentication)
        #expect(strongest(#"Digest realm=r, nonce=n, qop="AUTH-INT, other""#)?.quality == .integrity)
        #expect(strongest("Digest realm=r, nonce=n") != nil)
        #expect(strongest("Digest realm=r, nonce=n")?.quality == nil)
        #expect(strongest("Digest realm=r, nonce=n, qop=\"\"")?.quality == nil)
    }

    @Test func `answers say what they protect, or protect what the request did`() {
        let exchange = DigestExchange(
            function: .md5, sessionKey: "k", nonce: "n", nonceCount: 1, clientNonce: "c", quality: .integrity, target: "/")
        #expect(AuthenticationInfo(lines: ["qop=auth"]).quality(after: exchange) == .authentication)
        #expect(AuthenticationInfo(lines: [""]).quality(after: exchange) == .integrity)
        #expect(AuthenticationInfo(lines: ["nextnonce=\"\""]).nextNonce == nil)
        #expect(AuthenticationInfo(lines: ["nextnonce=\"a\nb\""]).nextNonce == nil)
        #expect(AuthenticationInfo(lines: ["qop=auth", "NextNonce=\"a b\""]).nextNonce == "a b")
    }
}
