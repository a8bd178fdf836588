import Foundation
import WebServiceClient
import WebServiceTesting

/// Tasks that a transport must leave to the stages above it.
enum RestraintCases {
    static let all = [
        ConformanceCase("restraint/redirects", "No redirect is followed.", run: redirects),
        ConformanceCase("restraint/cookies", "No cookie is stored, and the request's cookie is sent.", run: cookies),
        ConformanceCase("restraint/challenges", "No challenge is answered: 401 and 407 are responses, with their bodies.", run: challenges),
        ConformanceCase("restraint/cache", "Nothing is cached, and no request is made conditional.", run: cache),
        ConformanceCase("restraint/injection-value", "CR, LF and NUL in a value are refused, with nothing sent.", run: injectedValue),
        ConformanceCase("restraint/injection-name", "A field name that isn't a token is refused, with nothing sent.", run: injectedName),
        ConformanceCase("restraint/injection-method", "A method that isn't a token is refused, with nothing sent.", run: injectedMethod),
        ConformanceCase("restraint/user-info", "User info in the URL is refused or omitted, and never sent as credentials.", run: userInfo),
        ConformanceCase("restraint/schemes", "URLs that aren't http or https are refused as bad requests.", run: schemes),
    ]

    @Sendable private static func redirects(_ subject: ConformanceSubject) async throws {
        for status in [301, 302, 303, 307, 308] {
            for location in ["/next", "http://127.0.0.1:1/", "?q=2", ""] {
                try await answering(with: .redirect(to: location, status: status)) { server in
                    let request = try server.request(.get, "/a")
                    let response = try await subject.expect(status, "", for: request, "\(status) to “\(location)”")
                    try demand(response.headers[.location] ?? "", is: location, "Location")
                    _ = try server.onlyRequest()
                }
            }
        }
    }

    @Sendable private static func cookies(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok").with("Set-Cookie", "kept=1; Path=/")) { server in
            try await subject.expect(200, "ok", for: try server.request())
            try await subject.expect(200, "ok", for: try server.request())
            try await subject.expect(200, "ok", for: try server.request(headers: ["Cookie": "own=2"]))
            try demand(server.requests.map { $0.fields["Cookie"] }, is: [nil, nil, "own=2"], "Cookie, as received")
        }
    }

    @Sendable private static func challenges(_ subject: ConformanceSubject) async throws {
        for challenge in [
            "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"n\", qop=\"auth\"", "Bearer realm=\"a\", Basic realm=\"b\"", "Negotiate",
            "NTLM",
        ] {
            for headers in [[:], ["Authorization": "Basic YTpi"]] as [HTTPFields] {
                let refusal = LoopbackResponse.text("denied", status: 401).with("WWW-Authenticate", challenge)
                try await answering(with: refusal) { server in
                    let response = try await subject.expect(401, "denied", for: try server.request(headers: headers), challenge)
                    try demand(response.headers[.wwwAuthenticate], is: challenge, "WWW-Authenticate")
                    try demand(try server.onlyRequest().fields["Authorization"], is: headers[.authorization], "Authorization, as received")
                }
            }
        }
        try await answering(with: .text("proxy", status: 407).with("Proxy-Authenticate", "Basic realm=\"a\"")) { server in
            try await subject.expect(407, "proxy", for: try server.request(), "407")
            _ = try server.onlyRequest()
        }
    }

    @Sendable private static func cache(_ subject: ConformanceSubject) async throws {
        let response = LoopbackResponse.text("ok").with("Cache-Control", "max-age=600").with("ETag", "\"a\"")
        try await answering(with: response.with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")) { server in
            for _ in 0..<3 { try await subject.expect(200, "ok", for: try server.request()) }
            try demand(server.requests.count, is: 3, "The requests that reached the server")
            for request in server.requests {
                let conditions = request.fields.map(\.name).filter { $0.lowercased().hasPrefix("if-") }
                try demand(conditions, is: [], "Conditions")
            }
        }
    }

    /// Demands that a request fails with any error before anything is sent.
    private static func refused(
        _ what: String, _ subject: ConformanceSubject, change: (inout ServiceRequest) -> Void
    ) async throws {
        try await answering(with: .text("ok")) { server in
            var request = try server.request()
            change(&request)
            let ending = await ConformanceEnding.of { _ = try await subject.exchange(request) }
            if case .failed = ending {} else { throw TestingFailure("\(what): expected an error, found \(ending)") }
            try demand(server.requests.isEmpty && server.failures.isEmpty, "\(what): it failed, but the server received \(server.requests)")
        }
    }

    @Sendable private static func injectedValue(_ subject: ConformanceSubject) async throws {
        for value in ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "a\0b", "\r\n\r\nGET /evil HTTP/1.1\r\n\r\n", "a\r\n", "\n"] {
            try await refused("The value \(value.debugDescription)", subject) { $0.headers["X-Team"] = value }
        }
    }

    @Sendable private static func injectedName(_ subject: ConformanceSubject) async throws {
        for name in ["", "X Y", "X:Y", "X\r\nX-Evil", "X\0", "Ü", "X-Team:"] {
            try await refused("The name \(name.debugDescription)", subject) { $0.headers[HTTPFields.Name(name)] = "1" }
        }
    }

    @Sendable private static func injectedMethod(_ subject: ConformanceSubject) async throws {
        for method in ["", "G T", "GET /evil HTTP/1.1\r\nX-Evil: 1\r\n\r\nGET", "GET\r\n", "GET\0", "GÉT"] {
            try await refused("The method \(method.debugDescription)", subject) { $0.method = .init(rawValue: method) }
        }
    }

    @Sendable private static func userInfo(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            guard let url = URL(string: "http://ada:secret@127.0.0.1:\(server.port)/") else { throw TestingFailure("No URL") }
            let ending = await ConformanceEnding.of { _ = try await subject.exchange(ServiceRequest(url: url)) }
            if case .failed(let sentence) = ending {
                try demand(!sentence.contains("secret"), "The error contains the password")
            }
            try demand(server.requests.allSatisfy { $0.fields["Authorization"] == nil }, "The user info was sent as credentials")
        }
    }

    @Sendable private static func schemes(_ subject: ConformanceSubject) async throws {
        for text in ["ftp://127.0.0.1/", "file:///etc/hostname", "/relative", "data:,x", "gopher://127.0.0.1/", "mailto:a@b"] {
            guard let url = URL(string: text) else { throw TestingFailure("“\(text)” isn't a URL") }
            try await subject.expect(.badRequest, .unsupported, for: ServiceRequest(url: url), text)
        }
    }
}
