import Foundation
import WebServiceClient
import WebServiceTesting

/// Requests on connections that are already closed or close during the request: nothing is sent twice.
enum RepetitionCases {
    static let all = [
        ConformanceCase(
            "connections/stale-get", "On a stale kept connection, GET succeeds, or is `connectionLost`.", run: staleGet),
        ConformanceCase(
            "connections/stale-post", "On a kept connection that the server has closed, POST is sent at most once.",
            run: stalePost),
        ConformanceCase(
            "connections/post-once", "A POST whose connection ends before the response is `connectionLost`, and sent once.",
            run: postOnce),
        ConformanceCase("connections/post-once-bare", "A POST without a body is `connectionLost`, and sent once, too.", run: barePostOnce),
        ConformanceCase("connections/others-once", "PUT, PATCH and DELETE are sent once, too: the caller retries.", run: othersOnce),
    ]

    @Sendable private static func staleGet(_ subject: ConformanceSubject) async throws {
        for round in 0..<5 {
            // The response doesn't announce that the connection ends.
            try await answering(with: .text("ok").failing(.cut(afterBytes: .max))) { server in
                try await subject.expect(200, "ok", for: try server.request())
                // The client may see the close before the next request, or the two may cross.
                if round > 0 { try await Task.sleep(for: .milliseconds(round)) }
                try await subject.expect("ok", or: [.connectionLost], for: try server.request(), "Round \(round)")
            }
        }
    }

    @Sendable private static func stalePost(_ subject: ConformanceSubject) async throws {
        for round in 0..<5 {
            let posts = Locked(0)
            let answer: LoopbackRoutes.Handler = { request in
                if request.method == "POST" { posts.withLock { $0 += 1 } }
                return .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    wire.finishSending()
                    // Later bytes on this connection count as sent, although they get no answer.
                    while let bytes = try wire.read() {
                        if bytes.range(of: Data("POST ".utf8)) != nil { posts.withLock { $0 += 1 } }
                    }
                }
            }
            try await answering(answer) { server in
                try await subject.expect(200, "ok", for: try server.request())
                if round > 0 { try await Task.sleep(for: .milliseconds(round)) }
                let request = try server.request(.post, body: RequestBody(Data("once".utf8)))
                try await subject.expect("ok", or: [.connectionLost], for: request, "Round \(round)")
            }
            let count = posts.withLock { $0 }
            try demand(count <= 1, "Round \(round): the server got the POST \(count) times")
        }
    }

    /// Sends a request on a kept connection that fails during it, and demands that it arrives once.
    private static func once(
        _ method: ServiceRequest.Method, _ body: RequestBody?, dying fault: LoopbackFault, _ subject: ConformanceSubject
    ) async throws {
        try await serving({ routes in
            routes.on("*", "/first") { _ in .text("ok") }
            routes.on("*", "/second") { _ in .text("never whole").failing(fault) }
        }) { server in
            try await subject.expect(200, "ok", for: try server.request(.get, "/first"))
            let what = "\(method), \(fault)"
            var request = try server.request(method, "/second", body: body)
            request.timeouts.firstByte = .seconds(20)
            let ending = await ConformanceEnding.of { _ = try await subject.exchange(request) }
            let count = server.requests.filter { $0.path == "/second" }.count
            try demand(count, is: 1, "\(what): the times that the server got it")
            try await server.waitForOpenConnections(atMost: 0)
            guard case .failed(let error) = ending, error.contains("connectionLost") || error.contains("unreadableResponse") else {
                throw TestingFailure("\(what): expected connectionLost, found \(ending)")
            }
        }
    }

    private static let faults: [LoopbackFault] = [.drop, .reset(afterBytes: 0), .reset(afterBytes: 10)]

    @Sendable private static func postOnce(_ subject: ConformanceSubject) async throws {
        let data = Data("once".utf8)
        for fault in faults {
            try await once(.post, RequestBody(data), dying: fault, subject)
            try await once(.post, .pieces(of: data, by: 2), dying: fault, subject)
            try await once(.post, .pieces(of: data, by: 2, length: 4), dying: fault, subject)
        }
    }

    @Sendable private static func barePostOnce(_ subject: ConformanceSubject) async throws {
        for fault in faults { try await once(.post, nil, dying: fault, subject) }
    }

    @Sendable private static func othersOnce(_ subject: ConformanceSubject) async throws {
        for fault in faults {
            try await once(.put, RequestBody(Data("once".utf8)), dying: fault, subject)
            try await once(.patch, RequestBody(Data("once".utf8)), dying: fault, subject)
            try await once(.delete, nil, dying: fault, subject)
        }
    }
}
