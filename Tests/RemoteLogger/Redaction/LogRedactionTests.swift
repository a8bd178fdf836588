import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

@Suite struct LogRedactionTests {
    private let redaction = LogRedaction.standard

    /// Texts with their masked form.
    static let texts: [(String, String)] = [
        ("password=hunter22", "password=<masked>"),
        ("user=ada password=hunter22 step=3", "user=ada password=<masked> step=3"),
        ("password: hunter22, user: ada", "password: <masked>, user: ada"),
        ("PASSWORD = 'hunter 22' next", "PASSWORD = '<masked>' next"),
        ("{\"password\":\"hun\\\"ter22\",\"user\":\"ada\"}", "{\"password\":\"<masked>\",\"user\":\"ada\"}"),
        ("{\"tokens\" : [\"abcdefgh\", \"ijklmnop\"], \"n\": 1}", "{\"tokens\" : <masked>, \"n\": 1}"),
        ("{\"credentials\":{\"user\":\"ada\",\"x\":\"hunter22\"},\"n\":1}", "{\"credentials\":<masked>,\"n\":1}"),
        ("body {\\\"password\\\":\\\"hunter22\\\",\\\"n\\\":1}", "body {\\\"password\\\":\\\"<masked>\\\",\\\"n\\\":1}"),
        ("[\"clientSecret\": \"hunter22\", \"id\": \"7\"]", "[\"clientSecret\": \"<masked>\", \"id\": \"7\"]"),
        ("Login(user: \"ada\", password: Optional(\"hunter 22\"))", "Login(user: \"ada\", password: <masked>)"),
        ("password=hun,ter;22,user=ada", "password=<masked>,user=ada"),
        ("Authorization: Bearer abc.def-123\nAccept: */*", "Authorization: <masked>\nAccept: */*"),
        ("authorization=Digest username=\"ada\", response=\"0123456789\"", "authorization=<masked>"),
        ("curl -H 'Cookie: a=b; c=d' https://x.example/", "curl -H 'Cookie: <masked>' https://x.example/"),
        ("Set-Cookie: sid=abcdef; Path=/", "Set-Cookie: <masked>"),
        ("GET /x?page=2&access_token=abcdef#top", "GET /x?page=2&access_token=<masked>#top"),
        ("https://x.example/cb?code=s3cr3tcode&state=1", "https://x.example/cb?code=<masked>&state=1"),
        ("https://x.example/cb#access_token=s3cr3tcode&a=1", "https://x.example/cb#access_token=<masked>&a=1"),
        ("https://ada:hunter22@x.example/p@th", "https://<masked>@x.example/p@th"),
        ("postgres://ada:hun/ter22@db:5432/shop", "postgres://<masked>@db:5432/shop"),
        ("see //ada:hunter22@x.example", "see //<masked>@x.example"),
        ("http://x.example:8080/@ada", "http://x.example:8080/@ada"),
        ("<login><password>hunter22</password><user>ada</user></login>", "<login><password><masked></password><user>ada</user></login>"),
        ("<key>password</key><string>hunter22</string>", "<key>password</key><string><masked></string>"),
        (
            "<property name=\"password\">hunter22</property><property name=\"url\">jdbc:x</property>",
            "<property name=\"password\"><masked></property><property name=\"url\">jdbc:x</property>"
        ),
        ("<entry type='s' key = 'api_key'>hunter22</entry><a>b</a>", "<entry type='s' key = 'api_key'><masked></entry><a>b</a>"),
        (
            "<Param name=\"token\" value=\"hunter22\">s3cret</Param><Param name=\"a\" value=\"b\">c</Param>",
            "<Param name=\"token\" value=\"<masked>\"><masked></Param><Param name=\"a\" value=\"b\">c</Param>"
        ),
        ("<p name=\"password\"><![CDATA[hunter22]]></p><a>b</a>", "<p name=\"password\"><![CDATA[<masked>]]></p><a>b</a>"),
        ("<p name=\"password\"> <v>hunter22</v></p><a>b</a>", "<p name=\"password\"> <v><masked></v></p><a>b</a>"),
        ("<p name=\"password\">\n <v>hunter22</v></p><a>b</a>", "<p name=\"password\">\n <masked></p><a>b</a>"),
        ("<p name=\"password\"/><a>b</a>", "<p name=\"password\"/><a>b</a>"),
        ("device_code=hunter22&client_id=shop&code_verifier=hunter23", "device_code=<masked>&client_id=shop&code_verifier=<masked>"),
        (
            "{\"name\":\"X-Api-Key\",\"value\":\"s3cr3tvalue\"},{\"name\":\"Accept\",\"value\":\"*\"}",
            "{\"name\":\"X-Api-Key\",\"value\":\"<masked>\"},{\"name\":\"Accept\",\"value\":\"*\"}"
        ),
        ("mysql --user ada --password hunter22 shop", "mysql --user ada --password <masked> shop"),
        (#"started with ["shop", "--password", "hunter22", "-v"]"#, #"started with ["shop", "--password", "<masked>", "-v"]"#),
        (#"{"argv":["--api-key","hunter22"]}"#, #"{"argv":["--api-key","<masked>"]}"#),
        (#"{"text":"[\"--password\", \"hunter22\"]"}"#, #"{"text":"[\"--password\", \"<masked>\"]"}"#),
        (#"the options "--password", "--token" and "--user""#, #"the options "--password", "--token" and "--user""#),
        ("with --password, the prompt is skipped", "with --password, the prompt is skipped"),
        ("sent Bearer abcdef123456 to it", "sent Bearer <masked> to it"),
        ("proxy said basic YWRhOmh1bnRlcjIy.", "proxy said basic <masked>."),
        ("password%3Dhunter22%26user%3Dada", "password%3D<masked>%26user%3Dada"),
        ("redirect=https%3A%2F%2Fada%3Ahunter22%40x.example%2F", "redirect=https%3A%2F%2F<masked>%40x.example%2F"),
        ("password%253Dhunter22", "password%253D<masked>"),
        ("{\"q\":\"\\u0070assword=hunter22\"}", "{\"q\":\"\\u0070assword=<masked>\"}"),
        ("API key: s3cr3tvalue", "API key: <masked>"),
        ("Password          : hunter22", "Password          : <masked>"),
        ("password: |\n  hunter22\n  and 23\n\n   more\nuser: ada", "password: |\n  <masked>\nuser: ada"),
        ("- db:\n  - password: >-\n      hunter22\n    user: ada", "- db:\n  - password: >-\n      <masked>\n    user: ada"),
        ("api_key: !vault |2+ # ours\r\n  s3cr3t\r\n", "api_key: !vault |2+ # ours\r\n  <masked>\r\n"),
        ("password: &pw |\n  hunter22\nuser: ada", "password: &pw |\n  <masked>\nuser: ada"),
        ("password: !!str &pw |\n  hunter22\nuser: ada", "password: !!str &pw |\n  <masked>\nuser: ada"),
        ("authorization: |\n  Basic YWRhOmh1bnRlcjIy\nuser: ada", "authorization: |\n  <masked>\nuser: ada"),
        ("{\"yaml\":\"password: |\\n  hunter22\\nuser: ada\"}", "{\"yaml\":\"password: <masked>  <masked>\\nuser: ada\"}"),
        ("passphrase: correct horse battery", "passphrase: <masked>"),
        ("curl -u ada:hunter22 https://x.example/", "curl -u ada:<masked> https://x.example/"),
        ("curl -u  ada:84921733 x", "curl -u  ada:<masked> x"), ("curl --user\tada:123456 x", "curl --user\tada:<masked> x"),
        ("curl --user='ada:hunter 22' -v", "curl --user='ada:<masked>' -v"),
        ("POST https://hooks." + "slack.com/services/T024BE7LH/B0N3Y1Z2A/abcdefghijklmnop 200", "POST https://<masked> 200"),
        ("card 4111 1111 1111 1111 paid", "card <masked> paid"),
        ("on 01 4111-1111-1111-1111.", "on 01 <masked>."),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nok",
            "-----BEGIN RSA PRIVATE KEY-----<masked>-----END RSA PRIVATE KEY-----\nok"
        ),
    ]

    @Test(arguments: texts) func `secrets are masked and the rest stays`(text: String, expected: String) {
        #expect(redaction.masked(text) == expected)
        #expect(redaction.masked(expected) == expected, "masking twice is masking once")
    }

    @Test(arguments: texts) func `plain words before a secret make no difference`(text: String, expected: String) {
        #expect(redaction.masked("The order was placed\n\n" + text) == "The order was placed\n\n" + expected)
    }

    @Test(arguments: [
        "Order 17 placed in 12.5 ms", "GET /repos/ada/web-service-client/issues?state=open&page=2 200", "code: 404, key: name",
        "at 2026-03-01T09:30:00.123456789Z [main] Shop/Orders.swift:42 place(_:)",
        "trace=4bf92f3577b34da6a3ce929d0e0e4736 span=00f067aa0ba902b7",
        "3b241101-e2bb-4255-8caf-4136c566a962", "sequence 1772357400123456789", "the bearer of bad news, basic training", "50% of 10% done",
        "C:\\temp\\new\\file.txt", "a <b> c </b> & d", "hasToken: true, token: nil, password=null", "mail ada@x.example",
        "docker run -u 1000:1000 shop", "svn -u https://svn.example/shop", "sort -u names", "see hooks.slack.com/services/",
        "/usr/local/lib/swift/linux/libFoundationEssentials.so", "url.template=/users/%%0%%?token=%%1%%",
        "HTTPURLResponse and URLSessionConfiguration",
        "risk-assessment-of-the-task-force", "Ä ö ü 🦊 é",
    ]) func `what isn't secret is left alone`(text: String) {
        #expect(redaction.masked(text) == text)
    }

    @Test func `metadata is masked by name, by form, and by what names it`() {
        let metadata: LogMetadata = [
            "Authorization": "Basic YTpi", "user": "ada", "note": "password=hunter22", "card": 4_111_111_111_111_111, "n": 17,
            "headers": [["name": "X-Api-Key", "value": "s3cr3tvalue"] as LogMetadata, ["name": "Accept", "value": "*"] as LogMetadata],
            "arguments": ["--password", "hunter22", "--verbose"], "raw": Data("token=s3cr3tvalue".utf8),
            "nested": ["deep": ["api_token": "s3cr3t", "ok": true] as LogMetadata] as LogMetadata,
        ]
        #expect(
            redaction.masked(metadata) == [
                "Authorization": "<masked>", "user": "ada", "note": "password=<masked>", "card": "<masked>", "n": 17,
                "headers": [["name": "X-Api-Key", "value": "<masked>"] as LogMetadata, ["name": "Accept", "value": "*"] as LogMetadata],
                "arguments": ["--password", "<masked>", "--verbose"], "raw": "<masked>",
                "nested": ["deep": ["api_token": "<masked>", "ok": true] as LogMetadata] as LogMetadata,
            ])
        let sessions: LogMetadata = ["4111111111111111": 1, "5500000000000004": 2]
        #expect(redaction.masked(sessions) == ["<masked>": 1, "<masked> 1": 2])
    }

    @Test func `rules can be added and switched off`() {
        #expect(LogRedaction(rules: []).masked("https://ada:hunter22@x.example/") == "https://ada:hunter22@x.example/")
        #expect(LogRedaction(rules: []).masked(["password": "x"]) == ["password": "<masked>"])
        #expect(LogRedaction.none.masked("password=hunter22") == "password=hunter22")
        let own = LogRedaction(
            alsoHiding: ["iban"], exceptFor: ["passes", "Token-Count"],
            rules: RedactionRule.standard + [
                .prefix("acme_", atLeast: 8), .emailAddresses, .matching { $0.ranges(of: "Voldemort") },
            ])
        #expect(own.masked("IBAN: DE123 token_count=7 token=abcdef") == "IBAN: <masked> token_count=7 token=<masked>")
        #expect(own.masked("key ACME_12345678ab of ada@x.example, Voldemort's") == "key <masked> of <masked>, <masked>'s")
    }

    @Test(arguments: ["name", "key", "Header"])
    func `a name and its value are one pair, however they come together`(naming: String) {
        let secret = LogMetadata([("value", .string("swordfish-17"))])
        let name = LogMetadata([(naming, .string("X-Api-Key"))])
        let sink = CollectingSink()
        let logger = RemoteLogger(label: "shop", sinks: [sink])
        logger.with(name).info("m", secret)
        logger.with(secret).info("m", name)
        logger.with(name).with(secret).info("m")
        logger.with(secret).with(name).info("m", ["order": 7])
        logger.with(secret).with(["order": 7]).with(name).info("m")
        #expect(sink.records.count == 5)
        for record in sink.records { #expect(record.metadata["value"] == "<masked>", "\(record.metadata)") }
        logger.with([naming == "key" ? "name" : naming: "Accept"]).info("m", ["value": "text/html"])
        #expect(sink.records.last?.metadata["value"] == "text/html")
        // Pairs within one side were judged there, regardless of the other side.
        for bound in [LogMetadata(), ["request": 1]] {
            logger.with(bound).info("m", ["key": "theme", "value": "dark"])
            #expect(sink.records.last?.metadata["value"] == "dark")
        }
    }

    @Test func `a name is secret when a word is in it or a short name ends it, and no other`() {
        var random = SeededGenerator(seed: 17)
        let short = SecretMask.wholeNames + ["key", "sig", "code"]
        let pieces = (SecretMask.words + short).flatMap { [$0, String($0.dropLast()), String($0.prefix(3))] }
        var secret = 0
        for _ in 0..<20_000 {
            var name = ""
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let piece = pieces.randomElement(using: &random) ?? ""
                for letter in Bool.random(using: &random) ? piece : piece.uppercased() {
                    if Int.random(in: 0..<12, using: &random) == 0 { name += ["-", "_", ".", " "].randomElement(using: &random) ?? "" }
                    name.append(letter)
                }
                if Bool.random(using: &random) { name += ["x", "_id", "é", "-"].randomElement(using: &random) ?? "" }
            }
            let plain = name.lowercased().filter { !"-_. ".contains($0) }
            let last = name.lowercased().split { "-_. ".contains($0) }.last ?? ""
            let isSecret =
                short.contains(plain) || SecretMask.wholeNames.contains(String(last)) || SecretMask.words.contains { plain.contains($0) }
            secret += isSecret ? 1 : 0
            #expect(redaction.hides(name) == isSecret, "\(name)")
        }
        #expect((2_000...18_000).contains(secret))
    }

    @Test func `no name that the library masks elsewhere is shown`() {
        for name in [
            "authorization", "Proxy-Authorization", "set-cookie", "x-api-key", "DD-API-KEY", "x-amz-security-token", "subscription-key",
            "x-functions-key", "account-key", "sessionId", "jwt", "X-Signature", "pw", "pwd", "passwd", "x-csrf-token", "code", "key",
            "sig",
        ] {
            #expect(redaction.hides(name), "\(name)")
        }
    }
}
