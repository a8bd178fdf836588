import Foundation
import WebServiceClient
import WebServiceTesting

/// HTTP/2, if the server offers it.
enum HTTP2Cases {
    static let all = [
        ConformanceCase(
            "http2/negotiated", "HTTP/2 is used if it is offered, and the response reports it.", needing: .http2, run: negotiated),
        ConformanceCase("http2/many", "100 concurrent requests are all answered.", needing: .http2, run: many),
        ConformanceCase(
            "http2/bodies", "Bodies of 1 MB are sent from memory and as streams with and without a length.", needing: .http2, run: bodies),
        ConformanceCase(
            "http2/cancelled", "Cancelled requests don't affect others.", needing: .http2, run: cancelled),
        ConformanceCase(
            "http2/early-answer", "A response that completes before the request's body is delivered (RFC 9113 §8.1).",
            needing: .http2, run: earlyAnswer),
        ConformanceCase(
            "http2/cancelled-upload", "An upload cancelled while its body is sent doesn't affect others.", needing: .http2,
            run: cancelledUpload),
        ConformanceCase("http2/head", "A response to HEAD ends with its head, and its connection stays open.", needing: .http2, run: head),
        ConformanceCase(
            "http2/shared", "Concurrent requests share connections, according to the metrics.", needing: [.http2, .metrics], run: shared),
        ConformanceCase(
            "http2/echoed", "1 MB is echoed unchanged, and 20 concurrent bodies are echoed to the right requests.", needing: .http2,
            run: echoed),
    ]

    @discardableResult
    private static func expectAnswer(
        _ subject: ConformanceSubject, to request: ServiceRequest, _ what: String
    ) async throws -> TransportResponse {
        let response = try await subject.expectAnswer(to: request, what)
        try demand(response.httpVersion, is: "HTTP/2", "\(what), version")
        return response
    }

    @Sendable private static func negotiated(_ subject: ConformanceSubject) async throws {
        let url = try subject.needServers().secure
        for attempt in 1...2 { try await expectAnswer(subject, to: try subject.request(url), "Request \(attempt)") }
    }

    @Sendable private static func many(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { _ = try await expectAnswer(subject, to: request, "Request \(number)") } }
            try await group.waitForAll()
        }
    }

    @Sendable private static func bodies(_ subject: ConformanceSubject) async throws {
        let url = try subject.needServers().secure
        let data = ConformanceBytes.make(1_000_000)
        let bodies = [RequestBody(data), .pieces(of: data, by: 70_000, length: 1_000_000), .pieces(of: data, by: 70_000)]
        for (number, body) in bodies.enumerated() {
            let sent = Locked<Int64>(0)
            var request = try subject.request(url, .post, body: body)
            request.uploadProgress = { progress in sent.withLock { $0 = progress.completed } }
            try await expectAnswer(subject, to: request, "Body \(number)")
            try demand(sent.withLock { $0 }, is: 1_000_000, "Body \(number), the bytes sent")
        }
    }

    @Sendable private static func cancelled(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await expectAnswer(subject, to: request, "The first request")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    guard number % 3 == 0 else {
                        try await expectAnswer(subject, to: request, "Request \(number)")
                        return
                    }
                    let call = Task { try await subject.exchange(request) }
                    for _ in 0..<number { await Task.yield() }
                    call.cancel()
                    // The call may complete before it is cancelled.
                    do { _ = try await call.value } catch is CancellationError {}
                }
            }
            try await group.waitForAll()
        }
        try await expectAnswer(subject, to: request, "The last request")
    }

    @Sendable private static func earlyAnswer(_ subject: ConformanceSubject) async throws {
        let url = try subject.need(\.answeringEarly, "answeringEarly")
        let data = ConformanceBytes.make(1_000_000)
        for (number, body) in [RequestBody(data), .pieces(of: data, by: 70_000)].enumerated() {
            try await expectAnswer(subject, to: try subject.request(url, .post, body: body), "Body \(number)")
        }
    }

    @Sendable private static func cancelledUpload(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await expectAnswer(subject, to: request, "The first request")
        // The rest of the body never comes, so the server can't answer.
        let (begun, signal) = AsyncStream<Void>.makeStream()
        let isBegun = Locked(false)
        let body = RequestBody {
            AsyncThrowingStream {
                let wasBegun = isBegun.withLock { isBegun in
                    defer { isBegun = true }
                    return isBegun
                }
                guard wasBegun else { return Data("begun".utf8) }
                signal.finish()
                try await Task.sleep(for: .seconds(1_000))
                return nil
            }
        }
        let upload = try subject.request(request.url, .post, body: body)
        let call = Task {
            // A transport may end without reading the body.
            defer { signal.finish() }
            return await ConformanceEnding.of { _ = try await subject.exchange(upload) }
        }
        for await _ in begun {}
        try await expectAnswer(subject, to: request, "A request during the upload")
        call.cancel()
        try demand(await call.value, is: .cancelled, "The end of the upload")
        try await expectAnswer(subject, to: request, "The last request")
    }

    @Sendable private static func head(_ subject: ConformanceSubject) async throws {
        let url = try subject.needServers().secure
        for attempt in 1...2 {
            let (response, body) = try await subject.exchange(try subject.request(url, .head))
            // Not every server that answers GET also answers HEAD.
            try demand(response.status < 500 && response.httpVersion == "HTTP/2", "HEAD \(attempt): found \(response)")
            try demand(body.count, is: 0, "HEAD \(attempt), the body's bytes")
            try await expectAnswer(subject, to: try subject.request(url), "GET after HEAD \(attempt)")
        }
    }

    @Sendable private static func shared(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await expectAnswer(subject, to: request, "The first request")
        let own = try await withThrowingTaskGroup(of: Bool.self, returning: Int.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let response = try await expectAnswer(subject, to: request, "Request \(number)")
                    return response.report?.metrics.isConnectionReused == false
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        // A server may limit the streams of a connection, so the rest uses other connections.
        try demand(own <= 25, "\(own) of 50 requests opened a connection")
    }

    @Sendable private static func echoed(_ subject: ConformanceSubject) async throws {
        try await echo(1_000_000, subject) { RequestBody($0) }
        try await echo(1_000_000, subject) { .pieces(of: $0, by: 70_000) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await echo(50_000 + number, subject) { number % 2 == 0 ? RequestBody($0) : .pieces(of: $0, by: 9_000) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Demands that letters are echoed. JSON doesn't escape them.
    private static func echo(_ count: Int, _ subject: ConformanceSubject, body: @Sendable (Data) -> RequestBody) async throws {
        let letters = Data(ConformanceBytes.make(count, seed: UInt64(count)).map { 97 + $0 % 26 })
        var request = try subject.request(try subject.need(\.echo, "echo"), .post, body: body(letters))
        request.headers[.contentType] = "text/plain; charset=utf-8"
        let (response, back) = try await subject.exchange(request)
        try demand(response.status, is: 200, "\(count) bytes, status")
        try demand(response.httpVersion, is: "HTTP/2", "\(count) bytes, version")
        try demand(back.range(of: letters) != nil, "The \(count) bytes sent aren't in the \(back.count) bytes received")
    }
}
