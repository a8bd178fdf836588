import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ConfigurationTests {
    /// Returns the output of `print`, `String(reflecting:)` and `dump` for a value.
    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    @Test func `Nothing that can be printed of a configuration shows a secret`() throws {
        var configuration = WebServiceClient.Configuration()
        configuration.serviceRoot = "https://ada:s3cret@api.test/v1?api_key=s3cret"
        configuration.headers = [
            "Authorization": "Bearer s3cret", "Cookie": "id=s3cret", "Proxy-Authorization": "Basic s3cret", "X-Api-Key": "s3cret",
            "User-Agent": "core",
        ]
        configuration.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "s3cret")
        let client = WebServiceClient { $0 = configuration }
        let defaults = EndpointDefaults(serviceRoot: configuration.serviceRoot, headers: configuration.headers)
        for text in texts(of: configuration) + texts(of: defaults) {
            #expect(!text.contains("s3cret"), "\(text)")
            #expect(text.contains("api.test") && text.contains("core") && text.contains("Bearer"), "\(text)")
        }
        for text in texts(of: client) { #expect(!text.contains("s3cret"), "\(text)") }
        for text in texts(of: configuration) { #expect(text.contains("bodyLimit") && text.contains("67108864"), "\(text)") }
    }

    @Test func `Nothing that can be printed of a request or a response shows a secret`() throws {
        let url = try #require(URL(string: "https://ada:s3cret@api.test/v1?token=s3cret"))
        let request = ServiceRequest(url: url, headers: ["Cookie": "s3cret"], body: RequestBody(Data("s3cret".utf8)))
        let response = TransportResponse(status: 200, headers: ["Set-Cookie": "s3cret"], url: url)
        let result = ServiceResponse(value: 42, status: 200, headers: response.headers, url: url, duration: .seconds(1))
        for text in texts(of: request) + texts(of: response) + texts(of: result) {
            #expect(!text.contains("s3cret") && text.contains("api.test"), "\(text)")
        }
        for text in texts(of: result) { #expect(text.contains("42") && text.contains("200"), "\(text)") }
    }
}
