import Foundation
import Testing

@testable import HTTPTransport

@Suite struct ProxyExceptionsTests {
    /// The same exceptions, from the environment and from a configuration.
    private static func both(_ exceptions: [String]) throws -> [ProxyExceptions] {
        let proxy = CurlTransport.Proxy.url(try #require(URL(string: "http://proxy.test:3128")), exceptions: exceptions)
        return [ProxyExceptions(environment: exceptions.joined(separator: ",")), try ProxyExceptions(of: proxy)]
    }

    @Test(arguments: ["example.com", "a.example.com", "EXAMPLE.com", "127.0.0.1", "127.1", "10.1.2.3", "intern"])
    func `an excepted host`(host: String) throws {
        for exceptions in try Self.both(["other.test, .example.com", "127.0.0.1", "10.0.0.0/8", "*.intern"]) {
            #expect(exceptions.contains(host))
        }
        for exceptions in try Self.both(["a", "*"]) { #expect(exceptions.contains(host)) }
        for exceptions in try Self.both([]) + Self.both(["", " , "]) { #expect(!exceptions.contains(host)) }
    }

    @Test(arguments: ["example.org", "notexample.com", "10.127.0.0.1", "127.0.0.11", "com", "internal"])
    func `a host that isn't excepted`(host: String) throws {
        for exceptions in try Self.both(["other.test, .example.com", "127.0.0.1", "*.intern"]) { #expect(!exceptions.contains(host)) }
    }

    @Test func `libcurl gets the names, and all hosts for a call to a matching network`() throws {
        let exceptions = try #require(try Self.both(["*.intern", "example.com", "10.0.0.0/8"]).last)
        #expect(exceptions.dependsOnHost)
        #expect(exceptions.text(forCallTo: "10.1.2.3") == "*")
        #expect(exceptions.text(forCallTo: "11.1.2.3") == "intern,example.com")
        #expect(exceptions.text(forCallTo: "example.org") == "intern,example.com")
    }
}
