import Testing

@testable import WebServiceClient

@Suite struct AuthenticationChallengeTests {
    private func challenges(_ lines: String...) -> [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(in: lines)
    }

    private func challenge(_ scheme: String, _ parameters: KeyValuePairs<String, String> = [:], token68: String? = nil)
        -> AuthenticationChallenge
    {
        AuthenticationChallenge(scheme: scheme, parameters: parameters.map { .init(name: $0, value: $1) }, token68: token68)
    }

    @Test func `one challenge with parameters`() {
        let found = challenges(#"Basic realm="simple", charset="UTF-8""#)
        #expect(found == [challenge("Basic", ["realm": "simple", "charset": "UTF-8"])])
        #expect(found.first?["REALM"] == "simple")
        #expect(found.first?.isScheme("bASIC") == true)
        #expect(found.first?["nonce"] == nil)
    }

    /// The example of RFC 9110 §11.6.1.
    @Test func `several challenges in one line`() {
        #expect(
            challenges(#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#) == [
                challenge("Basic", ["realm": "simple"]),
                challenge("Newauth", ["realm": "apps", "type": "1", "title": #"Login to "apps""#]),
            ])
    }

    @Test func `several lines, in their order`() {
        #expect(
            challenges(#"Digest realm="a", nonce="n", qop="auth, auth-int""#, "Negotiate", #"Basic realm="b""#) == [
                challenge("Digest", ["realm": "a", "nonce": "n", "qop": "auth, auth-int"]), challenge("Negotiate"),
                challenge("Basic", ["realm": "b"]),
            ])
    }

    @Test func `a line may go on where the one before ended`() {
        #expect(
            challenges(#"Digest realm="a""#, #"nonce="n", Basic realm="b""#) == challenges(#"Digest realm="a", nonce="n", Basic realm="b""#)
        )
    }

    @Test func `schemes alone, and with a token68`() {
        #expect(
            challenges("Negotiate, NTLM TlRMTVNTUAAC==, Basic realm=x") == [
                challenge("Negotiate"), challenge("NTLM", token68: "TlRMTVNTUAAC=="), challenge("Basic", ["realm": "x"]),
            ])
        #expect(challenges("Bearer a-b._~+/9") == [challenge("Bearer", token68: "a-b._~+/9")])
    }

    @Test func `blanks around equals signs, tabs, and empty list elements`() {
        #expect(
            challenges(", ,\tDigest  realm\t= \"a\" ,, nonce =n ,qop= auth,") == [
                challenge("Digest", ["realm": "a", "nonce": "n", "qop": "auth"])
            ])
    }

    @Test func `quoted commas, equals signs and escapes belong to the value`() {
        #expect(
            challenges(#"X a="b, Basic realm=\"no\", c=d", e="\\\,""#) == [
                challenge("X", ["a": #"b, Basic realm="no", c=d"#, "e": #"\,"#])
            ])
    }

    @Test func `of a parameter sent twice the first counts, and both are kept`() {
        let found = challenges("Digest realm=a, Realm=b")
        #expect(found.first?["realm"] == "a")
        #expect(found.first?.parameters.count == 2)
    }

    @Test func `quotes and commas that were forgotten`() {
        #expect(challenges("Basic realm=a@b") == [challenge("Basic", ["realm": "a@b"])])
        #expect(challenges(#"Digest realm="a" nonce="b""#) == [challenge("Digest", ["realm": "a", "nonce": "b"])])
        #expect(challenges(#"Basic realm="never closed"#) == [challenge("Basic", ["realm": "never closed"])])
        #expect(
            challenges(#"Basic realm="a" Digest realm="b""#) == [challenge("Basic", ["realm": "a"]), challenge("Digest", ["realm": "b"])])
    }

    @Test func `what makes no sense is skipped up to the next comma`() {
        #expect(challenges("", "  ", ",,,", "\"", "=", "realm=orphan", "(a), \"x, Basic realm=y\"").isEmpty)
        #expect(challenges("@@@, Basic realm=a") == [challenge("Basic", ["realm": "a"])])
        #expect(challenges(#"Basic realm="a"junk, nonce=n"#) == [challenge("Basic", ["realm": "a", "nonce": "n"])])
        #expect(challenges("Basic \u{0}\u{1}é, realm=a") == [challenge("Basic", ["realm": "a"])])
    }

    @Test func `a list of parameters without a scheme`() {
        let lines = [#"nextnonce="a,b", qop=auth"#, "rspauth=\"c\", nc=00000001"]
        let found = ChallengeScanner.parameters(in: lines.map { Array($0.utf8) })
        #expect(found.map(\.name) == ["nextnonce", "qop", "rspauth", "nc"])
        #expect(found.map(\.value) == ["a,b", "auth", "c", "00000001"])
    }
}
