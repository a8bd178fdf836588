import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CookieJarTests {
    private let jar = CookieJar(publicSuffixes: CookieExchange.suffixes)

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func names(_ url: String) throws -> [String] { try jar.cookies(for: Self.url(url)).map(\.name) }

    @Test func `a jar is inspected and edited`() throws {
        let refused = try jar.store(
            ["Set-Cookie": "sid=1; Secure", "set-cookie": "theme=dark; Max-Age=60; Domain=example.com", "Set-Cookie": "x=1; Domain=com"],
            from: Self.url("https://www.example.com/a/b"))
        #expect(refused == ["The cookie \"x\" isn't kept: its domain is a public suffix."])
        jar.set(try Cookie(name: "own", value: "v", domain: "www.example.com", path: "/"))
        #expect(jar.all.map(\.name) == ["sid", "theme", "own"])
        #expect(try names("https://www.example.com/a/c") == ["sid", "theme", "own"])
        #expect(try names("http://example.com/a") == ["theme"] && names("https://other.com/") == [] && names("mailto:a@b.test") == [])
        #expect(jar.remove { $0.name == "own" } == 1 && jar.remove { $0.name == "own" } == 0)
        jar.removeSessionCookies()
        #expect(jar.all.map(\.name) == ["theme"])
        jar.set(try Cookie(name: "theme", value: "", domain: "example.com", isHostOnly: false, path: "/a", expires: .distantPast))
        #expect(jar.all.isEmpty)
        jar.set(try Cookie(name: "a", value: "1", domain: "a.test"))
        jar.clear()
        #expect(jar.all.isEmpty)
        try jar.synchronize()
    }

    @Test func `an error of a closure removes nothing`() throws {
        struct Failure: Error {}
        jar.set(try Cookie(name: "a", value: "1", domain: "a.test"))
        #expect(throws: Failure.self) { try jar.remove { _ in throw Failure() } }
        #expect(jar.all.count == 1)
    }

    @Test func `a response sets at most 50 cookies, and refusals are named without values`() throws {
        var fields = HTTPFields()
        for number in 0..<60 { fields.append(.setCookie, "n\(number)=s3cret") }
        fields.append(.setCookie, "long=\(String(repeating: "s3cret", count: 20_000))")
        let refused = jar.receive(fields, from: try CookieExchange.place("https://a.test/"), at: CookieExchange.start)
        #expect(refused.count == 6 && refused[0] == "The cookie \"n50\" isn't kept: a response may set at most 50 cookies.")
        #expect(refused[5] == "6 more cookies of the response aren't kept." && !refused.joined().contains("s3cret"))
        #expect(jar.all.count == 50)
        let name = String(repeating: "n", count: 5000)
        let text = jar.receive(["Set-Cookie": "\(name)=s3cret"], from: try CookieExchange.place("https://a.test/"), at: Date()).joined()
        #expect(text.utf8.count < 200 && text.contains("4096"))
    }

    @Test func `a field of the program stays and wins`() throws {
        let place = try CookieExchange.place("https://a.test/")
        _ = jar.receive(["Set-Cookie": "a=1", "Set-cookie": "b=2", "SET-COOKIE": "nameless"], from: place, at: CookieExchange.start)
        func sent(_ own: HTTPFields) throws -> [String] {
            var request = ServiceRequest(url: try Self.url("https://a.test/"), headers: own)
            #expect(jar.add(to: &request, for: place, at: CookieExchange.start) == 0)
            return request.headers[values: .cookie]
        }
        #expect(try sent([:]) == ["a=1; b=2; nameless"])
        #expect(try sent(["Cookie": "b=own; c=3"]) == ["b=own; c=3; a=1; nameless"])
        #expect(try sent(["Cookie": "a=x", "cookie": "b=y"]) == ["a=x; b=y; nameless"], "one field")
        #expect(try sent(["Cookie": "a=x; value", "cookie": "b=y"]) == ["a=x; value", "b=y"], "nothing to add, nothing changed")
        jar.clear()
        #expect(try sent(["Cookie": "a=x"]) == ["a=x"] && sent([:]) == [])
    }

    @Test func `bytes come back as they came`() throws {
        let place = try CookieExchange.place("https://a.test/")
        let bytes: [UInt8] = [97, 61, 0xE9, 0xFF, 0x41]
        var fields = HTTPFields()
        fields.set(.setCookie, bytes: bytes)
        _ = jar.receive(fields, from: place, at: CookieExchange.start)
        var request = ServiceRequest(url: try Self.url("https://a.test/"))
        _ = jar.add(to: &request, for: place, at: CookieExchange.start)
        #expect(request.headers.bytes(of: .cookie) == [bytes])
    }

    @Test func `many threads use a jar at once`() async throws {
        let jar = jar
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    guard let url = URL(string: "https://h\(task % 3).test/") else { return }
                    for number in 0..<200 {
                        jar.store(["Set-Cookie": "n\(number % 20)=\(task)"], from: url)
                        #expect(jar.cookies(for: url).count <= 20)
                        if number % 50 == 0 { jar.remove { $0.value == "0" } }
                    }
                }
            }
        }
        #expect(jar.all.count <= 60)
    }
}
