import Foundation
import Testing

@testable import WebServiceClient

@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("https://ada:s3cret@h.test/p", "https://<masked>@h.test/p"),
        ("https://h.test/p?a=1&access_token=s3cret&b=2#f", "https://h.test/p?a=1&access_token=<masked>&b=2#f"),
        ("https://h.test/?API%5FKEY=s3cret", "https://h.test/?API%5FKEY=<masked>"),
        ("https://h.test/?x=1", "https://h.test/?x=1"),
        ("/route?token=%%0%%", "/route?token=%%0%%"),
    ])
    func `User info and secret parameters are masked`(text: String, masked: String) {
        #expect(SecretMask.text(ofURL: text) == masked)
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
        #expect(binary.curlCommand.contains("'@body'"))
    }
}
