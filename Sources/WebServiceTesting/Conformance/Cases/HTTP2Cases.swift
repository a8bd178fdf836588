import Foundation
import WebServiceClient

/// HTTP/2, where the server offers it.
enum HTTP2Cases {
    static let all = [
        ConformanceCase(
            "http2/negotiated", "HTTP/2 is spoken where it is offered, and the response tells.", needing: .http2, run: negotiated),
        ConformanceCase("http2/many", "100 requests at once are all answered.", needing: .http2, run: many),
        ConformanceCase(
            "http2/bodies", "Bodies of 1 MB go out, from memory, as a stream with a length, and without.", needing: .http2, run: bodies),
        ConformanceCase(
            "http2/cancelled", "Requests that are cancelled leave the others of their connection alone.", needing: .http2, run: cancelled),
    ]

    @Sendable private static func negotiated(_ subject: ConformanceSubject) async throws {
        let url = try subject.needServers().secure
        for attempt in 1...2 {
            let response = try await subject.expectAnswer(to: try subject.request(url), "Request \(attempt)")
            try demand(response.httpVersion, is: "HTTP/2", "Request \(attempt), version")
        }
    }

    @Sendable private static func many(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await subject.expectAnswer(to: request, "Request \(number)") } }
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
            try await subject.expectAnswer(to: request, "Body \(number)")
            try demand(sent.withLock { $0 }, is: 1_000_000, "Body \(number), the bytes sent")
        }
    }

    @Sendable private static func cancelled(_ subject: ConformanceSubject) async throws {
        let request = try subject.request(try subject.needServers().secure)
        try await subject.expectAnswer(to: request, "The first request")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    guard number % 3 == 0 else { return _ = try await subject.expectAnswer(to: request, "Request \(number)") }
                    let call = Task { try await subject.exchange(request) }
                    for _ in 0..<number { await Task.yield() }
                    call.cancel()
                    // It may have been quicker.
                    do { _ = try await call.value } catch is CancellationError {}
                }
            }
            try await group.waitForAll()
        }
        try await subject.expectAnswer(to: request, "The last request")
    }
}
