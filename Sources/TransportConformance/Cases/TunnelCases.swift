import Foundation
import WebServiceClient
import WebServiceTesting

/// Secure connections through a proxy, which can't read their content.
enum TunnelCases {
    static let all = [
        ConformanceCase("tunnels/asked", "The proxy receives CONNECT, and nothing of the request.", run: asked),
        ConformanceCase(
            "tunnels/refused", "A proxy's response in place of a tunnel is never taken for the server's: proxyRefused.",
            run: refused),
        ConformanceCase(
            "tunnels/challenge", "A proxy's 407 is a response, marked as a tunnel refusal.", needing: .proxyAuthentication, run: challenge
        ),
        ConformanceCase("tunnels/no-tls", "A tunnel without TLS at its end is an error: tls, or connectionLost.", run: noTLS),
        ConformanceCase("tunnels/ipv6", "An IPv6 literal keeps its brackets.", needing: .ipv6Literals, run: literal),
        ConformanceCase(
            "tunnels/silent", "Waiting for a silent proxy ends at the connect timeout.", needing: .connectDeadlines, run: silent),
        ConformanceCase("tunnels/encrypted", "The first bytes through a tunnel are TLS.", run: encrypted),
        ConformanceCase("tunnels/through", "A server is reached and trusted through a tunnel.", run: through),
        ConformanceCase("tunnels/faults", "Certificate faults are reported through a tunnel, too.", run: faults),
        ConformanceCase("tunnels/pins", "Pins apply to the server at the end of the tunnel.", needing: .pinning, run: pins),
        ConformanceCase(
            "tunnels/credentials", "Credentials for the proxy open a tunnel.", needing: .proxyAuthentication, run: credentials),
        ConformanceCase(
            "tunnels/apart", "A tunnel is reused only with the same proxy credentials.",
            needing: .proxyAuthentication, run: apart),
    ]

    private static func secret() throws -> ServiceRequest {
        guard let url = URL(string: "https://service.invalid/secret?token=hidden") else { throw TestingFailure("There is no such URL") }
        let fields: HTTPFields = ["Authorization": "Bearer hidden", "Cookie": "a=hidden", "X-Own": "hidden"]
        return ServiceRequest(method: .post, url: url, headers: fields, body: RequestBody(Data("hidden".utf8)))
    }

    @Sendable private static func asked(_ subject: ConformanceSubject) async throws {
        try await answering(with: .status(403)) { proxy in
            let subject = try subject.through(try proxy.url(""))
            try await subject.expect(.proxyRefused, for: try secret())
            let request = try proxy.onlyRequest()
            try demand(request.method, is: "CONNECT", "The method")
            try demand(request.target, is: "service.invalid:443", "The request's target")
            try demand(!"\(request.fields) \(request.text)".contains("hidden"), "The proxy got more than CONNECT: \(request.fields)")
        }
    }

    @Sendable private static func refused(_ subject: ConformanceSubject) async throws {
        var answers: [LoopbackResponse] = [
            .text("no", status: 403), .text("no", status: 502), .text("moved", status: 302).with("Location", "https://evil.invalid/"),
            .text("no", status: 404).with("Set-Cookie", "a=b"),
        ]
        if !subject.transport.capabilities.contains(.proxyAuthentication) {
            answers.append(.text("who?", status: 407).with("Proxy-Authenticate", "Basic realm=\"p\""))
        }
        for (number, answer) in answers.enumerated() {
            try await answering(with: answer) { proxy in
                let subject = try subject.through(try proxy.url(""))
                let error = try await subject.expect(.proxyRefused, for: try secret(), "Answer \(number)")
                // The message must show that the proxy answered.
                try demand(error.message.lowercased().contains("proxy"), "The message “\(error.message)” doesn't name the proxy")
                try demand(!"\(error)".contains("hidden"), "The error contains parts of the request")
            }
        }
    }

    @Sendable private static func noTLS(_ subject: ConformanceSubject) async throws {
        let answer = LoopbackResponse.script { connection in
            try connection.write("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
        }
        try await answering(with: answer) { proxy in
            let subject = try subject.through(try proxy.url(""))
            // A connection closed during the handshake is lost or insecure.
            try await subject.expect(.tls, .connectionLost, for: try secret())
        }
    }

    @Sendable private static func literal(_ subject: ConformanceSubject) async throws {
        try await answering(with: .status(403)) { proxy in
            let subject = try subject.through(try proxy.url(""))
            guard let url = URL(string: "https://[::1]:8443/") else { throw TestingFailure("There is no such URL") }
            try await subject.expect(.proxyRefused, for: ServiceRequest(url: url))
            try demand(try proxy.onlyRequest().target, is: "[::1]:8443", "The request's target")
        }
    }

    @Sendable private static func silent(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.silent)
        guard let proxy = URL(string: "http://127.0.0.1:\(port.number)") else { throw TestingFailure("There is no such URL") }
        let subject = try subject.through(proxy)
        var request = try secret()
        request.timeouts.connect = .milliseconds(200)
        try await subject.expect(.timedOutConnecting, for: request)
        withExtendedLifetime(port) {}
    }

    @Sendable private static func challenge(_ subject: ConformanceSubject) async throws {
        let refusal = LoopbackResponse.text("who?", status: 407).with("Proxy-Authenticate", "Basic realm=\"p\"")
        try await answering(with: refusal) { proxy in
            let subject = try subject.through(try proxy.url(""))
            var request = try secret()
            request.headers["Proxy-Authorization"] = "Basic YTpi"
            let (response, _) = try await subject.exchange(request)
            try demand(response.status, is: 407, "Status")
            try demand(response.isTunnelRefusal, "The response isn't marked as a tunnel refusal")
            try demand(response.headers[.proxyAuthenticate], is: "Basic realm=\"p\"", "The challenge")
            try demand(try proxy.onlyRequest().fields["Proxy-Authorization"], is: "Basic YTpi", "Proxy-Authorization")
        }
    }

    @Sendable private static func encrypted(_ subject: ConformanceSubject) async throws {
        let first = Locked<Data?>(nil)
        let tunnel = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 Connection established\r\n\r\n")
            let bytes = try wire.read()
            first.withLock { $0 = bytes }
        }
        try await answering(with: tunnel) { proxy in
            let subject = try subject.through(try proxy.url(""))
            // A transport that sees only the connection's end can't tell that it came during the handshake.
            let error = try await subject.expect(.tls, .connectionLost, for: try secret())
            try demand(!"\(error)".contains("hidden"), "The error contains parts of the request")
            // A record of the handshake (RFC 8446 §5.1).
            try demand(first.withLock { $0?.first }, is: 22, "The first byte in the tunnel")
        }
    }

    @Sendable private static func pins(_ subject: ConformanceSubject) async throws {
        let subject = try subject.through(try subject.need(\.proxy, "proxy"))
        let servers = try subject.needServers()
        let host = HostPattern(servers.secure.host() ?? "")
        let right = PinSet(servers.chain.map { .publicKey(of: $0) })
        try await subject.expectAnswer(to: try subject.request(servers.secure) { $0.pins = [host: right] }, "With the right pins")
        let wrong = try subject.request(servers.secure) { $0.pins = [host: [.conformance]] }
        try await subject.expectRefusal(.pinMismatch, of: wrong, "With a wrong pin")
    }

    @Sendable private static func through(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let proxy = try subject.need(\.proxy, "proxy")
        // The proxy must not be bypassed.
        let port = try LoopbackPort(.closed)
        guard let nobody = URL(string: "http://127.0.0.1:\(port.number)") else { throw TestingFailure("There is no such URL") }
        try await subject.through(nobody).expect(.cannotConnect, for: try subject.request(servers.secure), "Through a missing proxy")
        withExtendedLifetime(port) {}
        let subject = try subject.through(proxy)
        for attempt in 1...2 { try await subject.expectAnswer(to: try subject.request(servers.secure), "Request \(attempt)") }
    }

    @Sendable private static func faults(_ subject: ConformanceSubject) async throws {
        let url = try subject.need(\.expired, "expired")
        let subject = try subject.through(try subject.need(\.proxy, "proxy"))
        try await subject.expectRefusal(.certificateExpired, of: try subject.request(url))
    }

    @Sendable private static func credentials(_ subject: ConformanceSubject) async throws {
        let subject = try subject.through(try subject.need(\.challengingProxy, "challengingProxy"))
        for attempt in 1...2 { try await subject.expectAnswer(to: try authorized(subject), "Request \(attempt)") }
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let subject = try subject.through(try subject.need(\.challengingProxy, "challengingProxy"))
        let url = try subject.needServers().secure
        for _ in 0..<2 {
            try await subject.expectAnswer(to: try authorized(subject))
            for value in [nil, "Basic bm9ib2R5Om5vYm9keQ=="] {
                var other = try subject.request(url)
                other.headers["Proxy-Authorization"] = value
                let (response, _) = try await subject.exchange(other)
                try demand(response.status, is: 407, "With an open tunnel, status")
                try demand(response.isTunnelRefusal, "The response isn't marked as a tunnel refusal")
            }
        }
    }

    private static func authorized(_ subject: ConformanceSubject) throws -> ServiceRequest {
        var request = try subject.request(try subject.needServers().secure)
        request.headers["Proxy-Authorization"] = try subject.need(\.proxyCredentials, "proxyCredentials")
        return request
    }
}
