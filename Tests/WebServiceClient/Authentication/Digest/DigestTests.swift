import Foundation
import Testing

@testable import WebServiceClient

/// Compares digests and header fields with the examples of the RFCs and with values computed by another implementation.
@Suite struct DigestTests {
    private func authorization(
        _ line: String, user: String, password: String, cnonce: String, target: String, method: String = "GET"
    ) throws -> String {
        let challenge = try #require(DigestChallenge.strongest(of: AuthenticationChallenge.challenges(in: [line])))
        let user = UserCredentials(name: user, password: password)
        let key = DigestExchange.sessionKey(
            algorithm: challenge.algorithm, user: user, realm: challenge.realm, nonce: challenge.nonce, clientNonce: cnonce)
        let exchange = DigestExchange(
            function: challenge.algorithm.function, sessionKey: key, nonce: challenge.nonce, nonceCount: 1, clientNonce: cnonce,
            quality: challenge.quality, target: target)
        let value = DigestAuthorization.value(
            user: user.name, challenge: challenge, exchange: exchange,
            response: exchange.response(method: method, bodyDigest: challenge.algorithm.function.digest(of: "")))
        return String(decoding: value, as: UTF8.self)
    }

    @Test(
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func `the examples of RFC 7616 §3.9.1`(algorithm: String, response: String) throws {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        let line = """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), nonce="\(nonce)", opaque="\(opaque)"
            """
        #expect(
            try authorization(line, user: "Mufasa", password: "Circle of Life", cnonce: cnonce, target: "/dir/index.html") == """
                Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=\(algorithm), nonce="\(nonce)", \
                nc=00000001, cnonce="\(cnonce)", qop=auth, response="\(response)", opaque="\(opaque)"
                """)
    }

    private func jason(userhash: Bool) -> String {
        """
        Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
        opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=\(userhash)
        """
    }

    /// Uses the two values corrected by erratum 4897: the RFC contains those of the first half of SHA-512, which SHA-512/256 isn't.
    @Test(arguments: ["J\u{e4}s\u{f8}n Doe", "Ja\u{308}s\u{f8}n Doe"])
    func `the example of RFC 7616 §3.9.2, as corrected, whatever the normal form of the name`(user: String) throws {
        let rest = """
            realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
            nc=00000001, cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", qop=auth, \
            response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
            """
        func value(userhash: Bool) throws -> String {
            try authorization(
                jason(userhash: userhash), user: user, password: "Secret, or not?",
                cnonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", target: "/doe.json")
        }
        let hashed = #"Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", "#
        #expect(try value(userhash: true) == hashed + rest + ", userhash=true")
        #expect(try value(userhash: false) == "Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, " + rest)
    }

    @Test func `the example of RFC 2617 §3.5`() throws {
        let line = """
            Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
            opaque="5ccc069c403ebaf9f0171e9517f40e41"
            """
        #expect(
            try authorization(line, user: "Mufasa", password: "Circle Of Life", cnonce: "0a4f113b", target: "/dir/index.html") == """
                Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                nc=00000001, cnonce="0a4f113b", qop=auth, response="6629fae49393a05397450978507c4ef1", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """)
    }

    /// Uses the value corrected by erratum 749.
    @Test func `the example of RFC 2069 §2.4, as corrected`() throws {
        let line = """
            Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"
            """
        #expect(
            try authorization(line, user: "Mufasa", password: "CircleOfLife", cnonce: "unused", target: "/dir/index.html") == """
                Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                response="1949323746fe6a43ef61f9606e7febea", opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """)
    }

    struct Vector: Sendable {
        let algorithm: String
        let quality: String?
        let response: String
        let proof: String

        init(_ algorithm: String, _ quality: String?, _ response: String, _ proof: String) {
            self.algorithm = algorithm
            self.quality = quality
            self.response = response
            self.proof = proof
        }
    }

    /// The request and response digests for a name with quotes, a realm with a backslash, a password with a colon and an umlaut, computed
    /// with Python's hashlib.
    @Test(arguments: [
        Vector("MD5", nil, "de3d625463cc612f3cd09cc9a5c0a36e", "3302ad6d799e06cdb3a5c76edbc221aa"),
        Vector("MD5", "auth", "45fd31aaff41cfe7cdd7a0c5baf8b6a9", "9d3d58c0a1468f453df3ad1e4d2af464"),
        Vector("MD5", "auth-int", "7a4fdb85a4a03b879a524fe1ab96e527", "4d92d0b9bfbed2e55dd1043a5e2d2c80"),
        Vector("MD5-sess", "auth", "10af990c04fc6861e13ff7a4bb87abfe", "e020b08c77f7979dff90acc86d8e0342"),
        Vector("MD5-sess", "auth-int", "aa05fef02159c04aa3496bb4ed4398cb", "2072a7979d0c865d77eaf57a9eb6ee2e"),
        Vector(
            "SHA-256", nil, "261d8a6ddfe11aa11a40300f216a3009f49fe7a09a68bc6b65394cfc8a3d339b",
            "9d409dbcf49ee560ba4bffc29d82e8d45c9011cf0fba3998bed4406ffc6376fc"),
        Vector(
            "SHA-256", "auth", "ccbc59cf2fa18da72f5935f6d01ca1309c4b9dabfff279a4344bbee52c7f8dcf",
            "1941eda598a6d73ae364a01f12dab16866b165c9c34282babf555a71510965ec"),
        Vector(
            "SHA-256", "auth-int", "422a7f93f1688b9ca5b8fde669d2b61112999d6c8a9af31ea7d8989fed273318",
            "96015c42e7d09c69ca702d39737b854643626224df2741e286a6149e2f06268d"),
        Vector(
            "SHA-256-sess", "auth", "58c838640d4d43c209c221997cedc07c12b41c3501795009a4da7ff75c2cafab",
            "4888d96bea7912a923b426925f9b04b317b1dc470007bc8b4049cb0e4c2baad1"),
        Vector(
            "SHA-256-sess", "auth-int", "47edd54c8d5b0c4a5490ef0a6eb3834540a04401a31d207048b25ab083bc83ea",
            "5c05e39cffb2a88479499ecdabb9f9c149640d4c5a98e57f80bf9519eda2e09e"),
        Vector(
            "SHA-512-256", nil, "27dc648b1730d17c9bb0a0830d48360e3601c2997d06c0aa9cf3cb788c244f94",
            "bbd7d305ae3559e16254be9539a972e11e02e98038b5bd2a0948d4188f6dfd9a"),
        Vector(
            "SHA-512-256", "auth", "44e0d1f80d2854fa738db8bebe030b2dddd6e9a563184281fd915e968817c68d",
            "0a7055a9c372399c6e719d457345015132cf4f12e564a5bc3a8de0e57bd6f938"),
        Vector(
            "SHA-512-256", "auth-int", "e9412c9b077af5301d20d2b981a72b6bd6ffe160f59c5901de2b8944e1392d6d",
            "2fcf8ce5afa95c4c0d770c34cf944a6a02bb13ae5745b2c40c3e337931a36a58"),
        Vector(
            "SHA-512-256-sess", "auth", "a63ca765da01277e8dbb257620687761a226e42af5ed1dc74705f1dd0ef47deb",
            "e9330576bbda699dd087ef7eb565750b3641a35e2e0020d1c4aefb2efc06f326"),
        Vector(
            "SHA-512-256-sess", "auth-int", "351e33d8b5ab53d077eaf1e7323a37ed9b6ea62a4abc09ebfa2f772fc0dc25da",
            "9aa096301bfd767273c3120fe546e4848c16225bbd9d2e7388b286c700b831e0"),
    ])
    func `every algorithm with every quality`(vector: Vector) throws {
        let algorithm = try #require(DigestAlgorithm(name: vector.algorithm.lowercased()))
        let user = UserCredentials(name: #"Ann "A" Bee"#, password: "pass:w\u{f6}rd")
        let key = DigestExchange.sessionKey(
            algorithm: algorithm, user: user, realm: #"re\alm"#, nonce: "srvNonce+/=", clientNonce: "0a4f113b")
        let exchange = DigestExchange(
            function: algorithm.function, sessionKey: key, nonce: "srvNonce+/=", nonceCount: 31, clientNonce: "0a4f113b",
            quality: vector.quality.flatMap(DigestQuality.init), target: "/a/b?c=%20d&e")
        #expect(exchange.response(method: "PUT", bodyDigest: algorithm.function.digest(of: "hello, body")) == vector.response)
        let answer = algorithm.function.digest(of: #"{"ok":true}"#)
        #expect(exchange.proof(quality: exchange.quality, bodyDigest: answer) == vector.proof)

        let info = AuthenticationInfo(lines: [#"rspauth="\#(vector.proof)", cnonce="0a4f113b", nc=0000001F"#])
        try info.verify(exchange, bodyDigest: answer)
        for wrong in [
            #"rspauth="\#(vector.response)""#, #"rspauth="""#, #"rspauth="\#(vector.proof)", cnonce="other""#,
            #"rspauth="\#(vector.proof)", nc=00000020"#, #"rspauth="\#(vector.proof)", nc=zz"#,
        ] {
            let error = try #require(throws: AuthenticationError.self) {
                try AuthenticationInfo(lines: [wrong]).verify(exchange, bodyDigest: answer)
            }
            #expect(error.kind == .serverNotProven)
            #expect(error.message.contains("failed to prove that it knows the password"))
        }
        try AuthenticationInfo(lines: ["nextnonce=\"x\""]).verify(exchange, bodyDigest: answer)
    }

    @Test func `quotes and backslashes of names and realms are escaped in the field`() throws {
        let value = try authorization(
            #"Digest realm="a \"b\" \\c", nonce="n", opaque="\"""#, user: #"x"y\z"#, password: "p", cnonce: "c", target: #"/a"b"#)
        #expect(value.contains(#"username="x\"y\\z""#))
        #expect(value.contains(#"realm="a \"b\" \\c""#))
        #expect(value.contains(#"opaque="\"""#))
        #expect(value.contains(#"uri="/a\"b""#))
        // The digest covers the values without quotes and escapes.
        let expected = DigestAlgorithm.Function.md5.digest(of: "GET", #"/a"b"#)
        let key = DigestAlgorithm.Function.md5.digest(of: #"x"y\z"#, #"a "b" \c"#, "p")
        #expect(value.contains("response=\"\(DigestAlgorithm.Function.md5.digest(of: key, "n", expected))\""))
    }

    @Test func `names beyond ASCII: extended for servers of RFC 7616, UTF-8 in quotes for older ones`() throws {
        func name(_ parameters: String, _ user: String = "\u{fc}") throws -> Substring? {
            try authorization("Digest realm=r, nonce=n, qop=auth\(parameters)", user: user, password: "p", cnonce: "c", target: "/")
                .dropFirst("Digest ".count).split(separator: ",").first
        }
        #expect(try name(", charset=UTF-8") == "username*=UTF-8''%C3%BC")
        #expect(try name(", algorithm=SHA-256") == "username*=UTF-8''%C3%BC")
        #expect(try name("") == "username=\"\u{fc}\"")
        #expect(try name("", "line\nbreak") == "username*=UTF-8''line%0Abreak")
        #expect(try name(", charset=UTF-8", "plain") == "username=\"plain\"")
    }

    @Test func `secrets show in no description, dump or mirror`() {
        let user = UserCredentials(name: "ada", password: "hunter2")
        let exchange = DigestExchange(
            function: .md5, sessionKey: "hunter2", nonce: "n", nonceCount: 1, clientNonce: "c", quality: nil, target: "/")
        var dumped = "\(user) \(String(reflecting: user)) \(exchange) \(String(reflecting: exchange)) \(String(describing: Optional(user)))"
        dump(user, to: &dumped)
        dump([exchange], to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test func `client nonces are 128 bits and differ`() {
        let nonces = (0..<100).map { _ in ClientNonce.random() }
        #expect(Set(nonces).count == 100)
        #expect(nonces.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }
}
