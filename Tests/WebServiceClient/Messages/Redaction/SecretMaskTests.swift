import Foundation
import Testing

@testable import WebServiceClient

@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("https://ada:s3cret@h.test/p", "https://<masked>@h.test/p"),
        ("https://h.test/p?a=1&access_token=s3cret&b=2#f", "https://h.test/p?a=1&access_token=<masked>&b=2#f"),
        ("https://h.test/?API%5FKEY=s3cret", "https://h.test/?API%5FKEY=<masked>"),
        ("https://h.test/?x=1", "https://h.test/?x=1"),
        ("https://h.test/cb#access_token=s3cret&state=1", "https://h.test/cb#access_token=<masked>&state=1"),
        ("//ada:s3cret@h.test/p", "//<masked>@h.test/p"),
        (
            "https://h.test/?subscription-key=s3cret&jwt=s3cret&session_id=s3cret&sort_key=1",
            "https://h.test/?subscription-key=<masked>&jwt=<masked>&session_id=<masked>&sort_key=1"
        ),
        ("/route?token=%%0%%", "/route?token=%%0%%"),
    ])
    func `User info and secret parameters are masked`(text: String, masked: String) {
        #expect(SecretMask.text(ofURL: text) == masked)
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
