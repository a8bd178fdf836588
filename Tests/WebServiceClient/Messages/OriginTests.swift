import Foundation
import Testing

@testable import WebServiceClient

@Suite struct OriginTests {
    private func origin(_ text: String) -> Origin? { URL(string: text).flatMap { Origin($0) } }

    @Test func `Case and the default port make no difference`() {
        #expect(origin("HTTPS://API.Test/a") == origin("https://api.test:443/b?c"))
        #expect(origin("http://api.test") == origin("http://user:pw@api.test:80"))
    }

    @Test func `Scheme, host and port each make another origin`() {
        let one = origin("https://api.test")
        for other in ["http://api.test", "https://api.test:8443", "https://api.test.evil", "http://api.test:443"] {
            #expect(origin(other) != one)
        }
    }

    @Test func `The description is the beginning of a URL`() {
        #expect(origin("https://api.test:443/x")?.description == "https://api.test")
        #expect(origin("http://[::1]:8080/x")?.description == "http://[::1]:8080")
        #expect(origin("/relative") == nil)
        #expect(origin("mailto:a@b.test") == nil)
    }
}
