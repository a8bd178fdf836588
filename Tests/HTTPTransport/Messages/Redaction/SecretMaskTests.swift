import Foundation
import Testing

@testable import HTTPTransport

@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("https://ada:s3cret@h.test/p", "https://<masked>@h.test/p"),
        ("https://h.test/p?a=1&access_token=s3cret&b=2#f", "https://h.test/p?a=1&access_token=<masked>&b=2#f"),
        ("https://h.test/?API%5FKEY=s3cret", "https://h.test/?API%5FKEY=<masked>"),
        ("https://h.test/?x=1", "https://h.test/?x=1"),
        ("https://h.test/cb#access_token=s3cret&state=1", "https://h.test/cb#access_token=<masked>&state=1"),
        ("//ada:s3cret@h.test/p", "//<masked>@h.test/p"),
        ("https:/ada:s3cret@h.test/p", "https:/<masked>@h.test/p"), ("https//ada:s3cret@h.test/p", "https//<masked>@h.test/p"),
        ("ada:s3cret@h.test/p", "<masked>@h.test/p"), ("users/a:b@c", "users/a:b@c"), ("h.test:80/@a", "h.test:80/@a"),
        ("ada:s3cret@h.test?next=https://x.test/", "<masked>@h.test?next=https://x.test/"),
        ("/login?next=https://ada:s3cret@x.test/", "/login?next=https://<masked>@x.test/"),
        ("HTTP:ada:s3cret@h.test/p", "HTTP:<masked>@h.test/p"), ("http/a:b/c@d", "http/a:b/c@d"), ("https:", "https:"),
        (
            "https://h.test/?subscription-key=s3cret&jwt=s3cret&session_id=s3cret&sort_key=1",
            "https://h.test/?subscription-key=<masked>&jwt=<masked>&session_id=<masked>&sort_key=1"
        ),
        ("/route?token=%%0%%", "/route?token=%%0%%"),
        (
            "/t?grant_type=x&assertion=s3cret&client_assertion=s3cret&SAMLResponse=s3cret",
            "/t?grant_type=x&assertion=<masked>&client_assertion=<masked>&SAMLResponse=<masked>"
        ),
        ("/t?session=s3cret&api+key=s3cret&sessions=1", "/t?session=<masked>&api+key=<masked>&sessions=1"),
    ])
    func `User info and secret parameters are masked`(text: String, masked: String) {
        #expect(SecretMask.text(ofURL: text) == masked)
    }

    @Test(arguments: [
        "db_pass", "SMTP-PASS", "user[pin]", "card.cvv2", "user_pw", "connect.sid", "basic_auth", "sms-otp", "wifi.psk", "PHPSESSID",
        "appKey",
        "app_key", "Consumer-Key", "session.key", "licenseKey", "recovery_key", "hmac-key", "passkey", "securityCode", "auth_code",
        "mfaCode",
        "backup_codes", "pin-code", "cardNumber", "connectionString", "seed_phrase", "mnemonic", "dbPass", "Kennwort", "mot_de_passe",
        "contraseña", "senha", "tokens[0]", "credentials[value]", "credentials[list][]", "totp", "hmac", "creds",
    ])
    func `Names of secrets are known in all spellings`(name: String) {
        let json = SecretMask.text(ofBody: #"{"a":1,"\#(name)":"Zq7mK2vXw9","b":2}"#, contentType: "application/json")
        #expect(json == #"{"a":1,"\#(name)":"<masked>","b":2}"#)
        let form = "application/x-www-form-urlencoded"
        #expect(SecretMask.text(ofBody: "a=1&\(name)=Zq7mK2vXw9&b=2", contentType: form) == "a=1&\(name)=<masked>&b=2")
        let encoded = name.replacing("[", with: "%5B").replacing("]", with: "%5D").replacing("ñ", with: "%C3%B1")
        #expect(SecretMask.text(ofURL: "https://h.test/?a=1&\(encoded)=Zq7mK2vXw9&b=2") == "https://h.test/?a=1&\(encoded)=<masked>&b=2")
        #expect(SecretMask.hidesMember(named: name) && SecretMask.hidesParameter(named: name))
    }

    @Test(arguments: [
        "compass", "bypass", "shipping", "spin", "author", "authority", "inside", "consider", "hotpin", "primaryKey", "sort_key",
        "cache-key",
        "idempotency_key", "public_key", "partitionKey", "zipCode", "error_code", "country.code", "statusCode", "user[name]", "items[0]",
        "process_id", "keyboard", "credit", "decoder", "tokyo",
    ])
    func `Names that only resemble those of secrets are shown`(name: String) {
        let json = #"{"\#(name)":"Zq7mK2vXw9"}"#
        #expect(SecretMask.text(ofBody: json, contentType: "application/json") == json)
        #expect(!SecretMask.hidesMember(named: name))
    }

    @Test(arguments: [
        ("{'password': u'Zq7mK2vXw9', 'a': 1}", "{'password': u'<masked>', 'a': 1}"), ("token = b\"Zq7mK2vXw9\"", "token = b\"<masked>\""),
        ("password = \'\'\'Zq7m\nK2vXw9\'\'\'\na = 1", "password = \'\'\'<masked>\'\'\'\na = 1"),
        ("a: 1\ntokens:\n  - Zq7mK2vXw9\n  - b\nc: 2", "a: 1\ntokens:\n  <masked>\nc: 2"),
        ("tokens:\r\n- Zq7mK2vXw9\r\nc: 2", "tokens:\r\n<masked>\r\nc: 2"),
        ("credentials:\n  user: ada\n  value: Zq7mK2vXw9\nc: 2", "credentials:\n  <masked>\nc: 2"),
        (
            #"[{"value":"Zq7mK2vXw9","name":"password"},{"value":"7","name":"size"}]"#,
            #"[{"value":"<masked>","name":"password"},{"value":"7","name":"size"}]"#
        ),
        (#"{"content":"Zq7mK2vXw9","enabled":true,"header":"X-Api-Key"}"#, #"{"content":"<masked>","enabled":true,"header":"X-Api-Key"}"#),
        (#"[{"value":"dark"},{"name":"password","value":"Zq7mK2vXw9"}]"#, #"[{"value":"dark"},{"name":"password","value":"<masked>"}]"#),
        (
            "- name: \"DB_HOST\"\n  value: \"db-1\"\n- name: \"DB_PASSWORD\"\n  value: \"Zq7mK2vXw9\"\n- name: \"A\"\n  value: \"b\"",
            "- name: \"DB_HOST\"\n  value: \"db-1\"\n- name: \"DB_PASSWORD\"\n  value: \"<masked>\"\n- name: \"A\"\n  value: \"b\""
        ),
        (
            #"[Item(name: "Accept", value: "text/html"), Item(name: "X-Api-Key", value: "Zq7mK2vXw9"), Item(name: "A", value: "b")]"#,
            #"[Item(name: "Accept", value: "text/html"), Item(name: "X-Api-Key", value: "<masked>"), Item(name: "A", value: "b")]"#
        ),
        (
            #"[Item(value: "text/html", name: "Accept"), Item(value: "Zq7mK2vXw9", name: "X-Api-Key"), Item(value: "b", name: "A")]"#,
            #"[Item(value: "text/html", name: "Accept"), Item(value: "<masked>", name: "X-Api-Key"), Item(value: "b", name: "A")]"#
        ),
        (#"{"name":"Bob"},{"value":"Zq7mK2vXw9","name":"password"}"#, #"{"name":"Bob"},{"value":"<masked>","name":"password"}"#),
        (#"value="a" name="b" value="Zq7mK2vXw9" name="password""#, #"value="a" name="b" value="<masked>" name="password""#),
        (#"name="b" value="a" name="password" value="Zq7mK2vXw9""#, #"name="b" value="a" name="password" value="<masked>""#),
        ("Invalid password:\n    at Login.swift:12\n", "Invalid password:\n    at Login.swift:12\n"),
        (#"{""token"":"""",""n"":1}"#, #"{""token"":"""",""n"":1}"#),
        ("<param value=\"Zq7mK2vXw9\" name=\"password\"/>", "<param value=\"<masked>\" name=\"password\"/>"),
        ("<password><!-- c -->Zq7mK2vXw9</password><a/>", "<password><masked></password><a/>"),
        ("<a>&#60;password&#62;Zq7mK2vXw9&#60;/password&#62;</a>", "<a>&#60;password&#62;<masked>&#60;/password&#62;</a>"),
        ("<a>&#x3C;password&#x3e;Zq7mK2vXw9&#x3C;/password&#x3E;</a>", "<a>&#x3C;password&#x3e;<masked>&#x3C;/password&#x3E;</a>"),
        ("[AnyHashable(\"password\"): \"Zq7mK2vXw9\"]", "[AnyHashable(\"password\"): \"<masked>\"]"),
        (#"Bearer error="invalid_token", scope="read""#, #"Bearer error="invalid_token", scope="read""#),
        (#"Bearer token="Zq7mK2vXw9", x=1"#, #"Bearer token="<masked>", x=1"#), ("bearer key: Zq7mK2vXw9", "bearer key: <masked>"),
        ("Bearer \"Zq7mK2vXw9\"", "Bearer \"<masked>\""), ("tokens[]=Zq7mK2vXw9&a=1", "tokens[]=<masked>&a=1"),
        (
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\na\n--Zq7mK2vXw9\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n<masked>\r\n--b--\r\n"
        ),
        (
            "--b\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name=\"user[pin]\"\r\n\r\nZq7mK2vXw9\r\n--b--\r\n",
            "--b\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name=\"user[pin]\"\r\n\r\n<masked>\r\n--b--\r\n"
        ),
    ])
    func `Values are found in the spellings of languages and formats`(text: String, masked: String) {
        #expect(SecretMask.text(text) == masked)
        #expect(SecretMask.text(ofBody: text, contentType: "text/plain") == masked)
    }

    @Test func `Words and numbers of a request aren't searched for in its answer`() {
        let body = #"{"max_tokens":100000,"token_type":"bearer","password":"Zq\"7mK2v"}"#
        #expect(RequestSecrets.credentials(in: RequestBody(Data(body.utf8))) == [#"Zq\"7mK2v"#, #"Zq"7mK2v"#])
        let url = "https://h.test/?token=100000&api_key=secret&password=Zq7mK2v&pin=1234&access_token=onlylowercase"
        #expect(URL(string: url).map(RequestSecrets.credentials(in:)) == ["Zq7mK2v", "onlylowercase"])
    }

    @Test func `Fields that carry keys are secrets`() {
        for name in ["Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Auth-Key", "X-Session-Id", "X-Amz-Credential"] {
            #expect(SecretMask.hides(HTTPFields.Name(name)), "\(name)")
        }
        for name in ["Idempotency-Key", "Accept", "Surrogate-Key"] { #expect(!SecretMask.hides(HTTPFields.Name(name)), "\(name)") }
    }

    @Test func `A body that is cut inside of a secret is masked to its end`() {
        let body = #"{"id":1,"access_token":"s3cret-s3cret"#
        #expect(!SecretMask.text(ofBody: body, contentType: "application/json").contains("s3cret"))
    }

    @Test(arguments: [
        "Sent AK+IAR6IV7JN4XDTZ6KE2 to it", "Sent AK+IAR6IV7JN4XDTZ6K23 to it", "(AK+IAR6IV7JN4XDTZ6222 1 2 3", "AK+IAR6IV7JN4XDTZ6KE2-2 4",
        "id=AK+IAR6IV7JN4XDTZ6KE7 9", "npm+_R6IV7JN4XDTZ6KE7AbCdEfGhIjKlMnOp1234 5678", "x AS+IAR6IV7JN4XDTZ6KE0  0",
        "7 AK+IAR6IV7JN4XDTZ6KE1 ",
        "4111 1111 1111 1111 and", "no 4111-1111-1111-1111", "a\nAK+IAR6IV7JN4XDTZ6KE2 - 3",
    ])
    func `A body that is cut anywhere shows no part of a secret`(text: String) {
        let text = text.replacing("+", with: "")
        for length in 1...text.utf8.count {
            let shown = SecretMask.beginning(ofBody: Data(text.utf8.prefix(length)), contentType: nil, upTo: 500, isCut: true).text
            #expect(["R6IV7J", "4111"].allSatisfy { !shown.contains($0) }, "\(length): \(shown)")
        }
    }

    @Test(arguments: [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "a/b+c d=e&f?g#h", "abcd", "ü🦊", "<b>\"x\"</b>",
        "%41%42", "a~b c+d",
        "password=hunter22", "x://ada:hunter22@h", "4111111111111111", "a:b@c/d", "hunter22\u{301}", "Bearer abcdef123456",
    ])
    func `The secrets of a request are masked as a whole, whatever the rules know of them`(secret: String) throws {
        let secrets = try #require(RequestSecrets(rules: .standard, texts: [secret]))
        let field = URLEncoding.formField(secret)
        let forms = [secret, URLEncoding.pathSegment(secret), field, field.replacing("+", with: "%20")]
        for form in forms {
            // The rules may also mask the text after the secret.
            #expect(["bot<masked>/x", "bot<masked>"].contains(SecretMask.text("bot\(form)/x", of: secrets)))
        }
        let url = SecretMask.text(ofURL: "https://h.test/bot\(forms[1])/x?n=1", of: secrets)
        #expect(["/x?n=1", "?n=1", ""].map { "https://h.test/bot<masked>" + $0 }.contains(url))
        #expect(SecretMask.text(ofURL: "https://h.test/bot?q=\(forms[2])", of: secrets) == "https://h.test/bot?q=<masked>")
        let body = SecretMask.text(ofBody: "He said: bot\(secret)\u{301}!", contentType: "text/plain", of: secrets)
        #expect(Data(body.utf8).range(of: Data(secret.utf8)) == nil && body.utf8.starts(with: "He said: bot<masked>".utf8))
    }

    @Test func `A short secret within a longer one doesn't hide it from the rules`() throws {
        let secrets = try #require(RequestSecrets(rules: .standard, texts: ["live"]))
        let key = "sk_" + "live_a1B2c3D4e5F6g7H8i9J0k1L2"
        #expect(SecretMask.text("key \(key) is live", of: secrets) == "key <masked> is <masked>")
    }

    @Test func `A Location with a token in it is masked`() {
        let field = HTTPFields.Field(name: .location, value: "https://h.test/cb?code=s3cret")
        #expect(SecretMask.text(of: field) == "https://h.test/cb?code=<masked>")
    }

    @Test func `The curl command masks fields, URL and body`() throws {
        let url = try #require(URL(string: "https://ada:s3cret@h.test/it's?token=s3cret"))
        var request = ServiceRequest(method: .post, url: url, headers: ["Authorization": "Basic s3cret", "Cookie": "id=s3cret"])
        request.headers[.contentType] = "application/json"
        request.body = RequestBody(Data(#"{"name":"it's","password":"s3\"cret s3cret","n":{"token": 5}}"#.utf8))
        let command = request.curlCommand
        #expect(!command.contains("s3cret"))
        #expect(command.hasPrefix("curl --request 'POST'"))
        #expect(command.contains(#""name":"it'\''s""#))
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        request.body = RequestBody(Data("user=ada&password=s3cret".utf8))
        #expect(request.curlCommand.contains("'user=ada&password=<masked>'"))
    }

    @Test func `The curl command of other methods and bodies`() throws {
        let url = try #require(URL(string: "https://h.test/"))
        #expect(ServiceRequest(url: url).curlCommand == "curl 'https://h.test/'")
        #expect(ServiceRequest(method: .head, url: url).curlCommand.contains("--head"))
        let binary = ServiceRequest(method: .put, url: url, body: RequestBody(Data([0, 255])))
        #expect(binary.curlCommand.contains(#"--data-binary @<(printf '%b' '\0000\0377')"#))
    }
}
