import Foundation
import WebServiceClient
import WebServiceTesting

/// Connections: opened, reused, measured.
enum ConnectionCases {
    static let all = [
        ConformanceCase("connections/closed-port", "A port that isn't listening is `cannotConnect`.", run: closedPort),
        ConformanceCase("connections/unknown-host", "A host without an address is `hostNotFound`, named in the message.", run: unknownHost),
        ConformanceCase("connections/no-tls", "TLS to a server without TLS is `tls`.", run: noTLS),
        ConformanceCase("connections/kept", "Consecutive requests use one connection.", run: kept),
        ConformanceCase("connections/closing", "A connection that the server announces to close isn't reused.", run: closing),
        ConformanceCase("connections/ipv6", "A host that is an IPv6 literal is reached.", needing: .ipv6Literals, run: ipv6),
        ConformanceCase("connections/many", "200 concurrent requests to one host each get the right response.", run: many),
        ConformanceCase("connections/uploads-at-once", "50 concurrent uploads each arrive with the right body.", run: uploadsAtOnce),
        ConformanceCase("connections/metrics", "Metrics are present and plausible.", needing: .metrics, run: metrics),
    ]

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw TestingFailure("“\(text)” isn't a URL") }
        return url
    }

    @Sendable private static func closedPort(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.closed)
        for scheme in ["http", "https"] {
            try await subject.expect(.cannotConnect, for: ServiceRequest(url: try url("\(scheme)://127.0.0.1:\(port.number)/")), scheme)
        }
        withExtendedLifetime(port) {}
    }

    @Sendable private static func unknownHost(_ subject: ConformanceSubject) async throws {
        let request = ServiceRequest(url: try url("http://nonexistent.invalid/?token=hidden"))
        let error = try await subject.expect(.hostNotFound, for: request)
        try demand(error.message.contains("nonexistent.invalid"), "The message “\(error.message)” doesn't name the host")
        try demand(!"\(error)".contains("hidden"), "The message contains the query")
    }

    @Sendable private static func noTLS(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("plain")) { server in
            try await subject.expect(.tls, for: ServiceRequest(url: try url("https://127.0.0.1:\(server.port)/")))
        }
    }

    @Sendable private static func kept(_ subject: ConformanceSubject) async throws {
        try await serving({ routes in
            routes.on("*", "/text") { _ in .text("ok") }
            routes.get("/chunks") { _ in .pieces([.init("o"), .init("k")]) }
            routes.get("/204") { _ in .status(204) }
            routes.get("/304") { _ in .status(304) }
        }) { server in
            for _ in 0..<5 {
                try await subject.expect(200, "ok", for: try server.request(.get, "/text"))
                try await subject.expect(200, "", for: try server.request(.head, "/text"))
                try await subject.expect(200, "ok", for: try server.request(.get, "/chunks"))
                try await subject.expect(204, "", for: try server.request(.get, "/204"))
                try await subject.expect(304, "", for: try server.request(.get, "/304"))
                try await subject.expect(200, "ok", for: try server.request(.post, "/text", body: RequestBody(Data("x".utf8))))
            }
            try demand(server.connectionCount, is: 1, "The connections of 30 requests")
        }
    }

    @Sendable private static func closing(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok").closing()) { server in
            for _ in 0..<5 { try await subject.expect(200, "ok", for: try server.request()) }
            try demand(server.connectionCount, is: 5, "The connections of 5 requests")
        }
    }

    @Sendable private static func ipv6(_ subject: ConformanceSubject) async throws {
        var options = LoopbackServer.Options()
        options.isIPv6 = true
        let server: LoopbackServer
        do {
            server = try LoopbackServer(options: options) { $0.fallback { _ in .text("six") } }
        } catch {
            throw ConformanceSkip("There is no IPv6 on this machine's loopback interface: \(error)")
        }
        defer { server.stop() }
        try await subject.expect(200, "six", for: try server.request())
        try demand(try server.onlyRequest().fields["Host"], is: "[::1]:\(server.port)", "Host")
    }

    @Sendable private static func many(_ subject: ConformanceSubject) async throws {
        try await serving({ routes in
            routes.get("/:number") { request in .text("answer \(request.parameters["number"] ?? "")") }
        }) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    let request = try server.request(.get, "/\(number)")
                    group.addTask { try await subject.expect(200, "answer \(number)", for: request, "Request \(number)") }
                }
                try await group.waitForAll()
            }
            try demand(server.requests.count, is: 200, "The requests that reached the server")
        }
    }

    @Sendable private static func uploadsAtOnce(_ subject: ConformanceSubject) async throws {
        try await answering({ .data($0.body) }) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    let data = ConformanceBytes.make(20_000 + number, seed: UInt64(number + 1))
                    let body = number % 2 == 0 ? RequestBody(data) : .pieces(of: data, by: 3_000)
                    let request = try server.request(.post, body: body)
                    group.addTask {
                        let (_, back) = try await subject.exchange(request)
                        try demand(back, is: data, "Upload \(number), as it came back")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Sendable private static func metrics(_ subject: ConformanceSubject) async throws {
        let sent = ConformanceBytes.make(1_000)
        let response = LoopbackResponse.pieces([.init(Data(repeating: 1, count: 70_000)), .init("end", after: .milliseconds(50))])
        try await answering(with: response.delayed(by: .milliseconds(50))) { server in
            for number in 0..<2 {
                let start = ContinuousClock.now
                let (response, _) = try await subject.exchange(try server.request(.post, body: RequestBody(sent)))
                let elapsed = start.duration(to: .now)
                guard let metrics = response.report?.metrics else { throw TestingFailure("The response has no report") }
                try plausible(metrics, elapsed: elapsed)
                if let count = metrics.bytesSent { try demand(count, is: 1_000, "The bytes sent") }
                if let count = metrics.bytesReceived {
                    try demand((70_003...70_100).contains(count), "The bytes received: expected 70003 (or with chunks), found \(count)")
                }
                if let isReused = metrics.isConnectionReused {
                    try demand(isReused, is: number > 0, "Request \(number), connection reused")
                }
                if let address = metrics.remoteAddress { try demand(address, is: "127.0.0.1:\(server.port)", "The address") }
                try demand(metrics.tlsVersion, is: nil, "The version of TLS")
            }
        }
    }

    private static func plausible(_ metrics: ExchangeMetrics, elapsed: Duration) throws {
        guard let firstByte = metrics.firstByte, let total = metrics.total else {
            throw TestingFailure("Expected the first-byte and total times, found \(metrics)")
        }
        let times = [metrics.nameLookup ?? .zero, metrics.connect ?? .zero, firstByte, total, elapsed + .milliseconds(1)]
        try demand(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "Expected rising times up to \(elapsed), found \(metrics)")
        // The server waits for 50 ms before the head and again within the body; clocks differ slightly, and a busy client sees both late.
        try demand(firstByte > .milliseconds(45), "The first byte came after \(firstByte): expected 50 ms or more")
        try demand(total > .milliseconds(90), "The exchange took \(total): expected 100 ms or more")
        try demand((metrics.secureConnect ?? .zero) <= firstByte, "TLS took \(metrics.secureConnect ?? .zero) where there was none")
    }
}
