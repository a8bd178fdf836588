import Foundation
import Testing

@testable import HTTPTransport

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

    @Test(arguments: [
        "http://api.test", "https://api.test/", "https://api.test:8443?q=//", "http://127.0.0.1:80/a:b@c", "http://user@api.test/",
        "http://user:7@api.test/", "http://api.test:/", "http://api.test:00080/", "http://api.test:0/", "http://api.test:65535",
        "http://api.test:65536/", "http://api.test:123456789/", "http://a-b.c.test#f", "http://a_b.test/", "http://b%C3%BCcher.test/",
        "http://[::1]/", "http://[fe80::1%25en0]:8/", "https://./", "http://-/", "http:///", "http://:80/", "https:/a", "ftp://api.test/",
        "HTTP://api.test", "http://API.test",
    ])
    func `What is read quickly is what Foundation reads`(text: String) throws {
        guard let url = URL(string: text) else { return }
        let host = url.host(percentEncoded: false)?.lowercased() ?? ""
        let origin = Origin(url)
        #expect((origin == nil) == host.isEmpty)
        guard let origin else { return }
        #expect(origin.scheme == url.scheme?.lowercased())
        #expect(origin.host == host.trimmingCharacters(in: ["[", "]"]))
        #expect(origin.port == url.port ?? (["http": 80, "https": 443][origin.scheme] ?? 0))
    }

    @Test func `The description is the beginning of a URL`() {
        #expect(origin("https://api.test:443/x")?.description == "https://api.test")
        #expect(origin("http://[::1]:8080/x")?.description == "http://[::1]:8080")
        #expect(origin("/relative") == nil)
        #expect(origin("mailto:a@b.test") == nil)
    }
}
