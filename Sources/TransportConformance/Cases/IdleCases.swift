import Foundation
import WebServiceClient
import WebServiceTesting

/// Connections that receive bytes or end while no request is in flight (RFC 9112 §9.2, §9.5), and bodies that end with them (§8).
enum IdleCases {
    static let all = [
        ConformanceCase(
            "connections/late-bytes", "Bytes on an idle connection aren't the response to the next request.", run: lateBytes),
        ConformanceCase(
            "connections/late-end", "After an idle connection is closed, the next request, even POST, is sent once, on another.",
            run: lateEnd),
        ConformanceCase("connections/late-reset", "After a reset, the next request is sent once, on another.", run: lateReset),
        ConformanceCase(
            "secure/late-bytes", "Bytes on an idle TLS connection aren't the response to the next request.", run: secureBytes),
        ConformanceCase(
            "secure/late-end",
            "After an idle TLS connection is closed, reset or shut down, the next request, even POST, is sent on another.",
            run: secureEnd),
        ConformanceCase(
            "secure/unannounced-end", "A body that ends with its TLS connection is `truncated` without close_notify.",
            run: unannouncedEnd),
    ]

    private static let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
    private static let other = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"

    /// Sends a request, lets the server act on its idle connection, and demands the right response to the next request.
    private static func next(
        after answer: String, _ text: String, _ subject: ConformanceSubject, _ what: String,
        act: @escaping @Sendable (LoopbackWire) throws -> Void
    ) async throws {
        for method in [ServiceRequest.Method.get, .post] {
            let (isRead, isDone, seconds) = (Locked(false), Locked(false), Locked(0))
            try await serving({ routes in
                routes.get("/first") { _ in
                    .script { wire in
                        try wire.write(answer)
                        try wire.wait(until: { isRead.withLock { $0 } })
                        try wire.pause(for: .milliseconds(5))
                        try act(wire)
                        isDone.withLock { $0 = true }
                        if let bytes = try? wire.read(), !bytes.isEmpty { seconds.withLock { $0 += 100 } }
                    }
                }
                routes.on("*", "/second") { _ in
                    seconds.withLock { $0 += 1 }
                    return .text("second")
                }
            }) { server in
                try await subject.expect(
                    text.isEmpty ? 204 : 200, text, for: try server.request(.get, "/first"), "\(what), the first answer")
                isRead.withLock { $0 = true }
                while !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
                try await Task.sleep(for: .milliseconds(10))
                let body = method == .post ? RequestBody(Data("once".utf8)) : nil
                var request = try server.request(method, "/second", body: body)
                request.timeouts.firstByte = .seconds(10)
                try await subject.expect(200, "second", for: request, "\(what), the \(method) after it")
            }
            try demand(seconds.withLock { $0 }, is: 1, "\(what): the times that the server got the \(method)")
        }
    }

    @Sendable private static func lateBytes(_ subject: ConformanceSubject) async throws {
        let texts = [
            "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", other, other + other,
            "HTTP/1.1 200 OK\r\nCont",
            "\r\n", "X",
        ]
        for text in texts { try await next(after: first, "first", subject, "“\(text)”") { try $0.write(text) } }
        let empty = "HTTP/1.1 204 No Content\r\n\r\n"
        for text in ["other", other] { try await next(after: empty, "", subject, "“\(text)” after 204") { try $0.write(text) } }
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
        try await next(after: chunks, "first", subject, "Another response after chunks") { try $0.write(other) }
    }

    @Sendable private static func lateEnd(_ subject: ConformanceSubject) async throws {
        try await next(after: first, "first", subject, "The end") { $0.finishSending() }
    }

    @Sendable private static func lateReset(_ subject: ConformanceSubject) async throws {
        for method in [ServiceRequest.Method.get, .post] {
            let isRead = Locked(false)
            try await serving({ routes in
                routes.get("/first") { _ in
                    .script { wire in
                        try wire.write(first)
                        try wire.wait(until: { isRead.withLock { $0 } })
                        wire.reset()
                    }
                }
                routes.on("*", "/second") { _ in .text("second") }
            }) { server in
                try await subject.expect(200, "first", for: try server.request(.get, "/first"))
                isRead.withLock { $0 = true }
                try await server.waitForOpenConnections(atMost: 0)
                try await Task.sleep(for: .milliseconds(10))
                let body = method == .post ? RequestBody(Data("once".utf8)) : nil
                var request = try server.request(method, "/second", body: body)
                request.timeouts.firstByte = .seconds(10)
                try await subject.expect(200, "second", for: request, "The \(method) after the reset")
                try demand(server.requests.filter { $0.path == "/second" }.count, is: 1, "The times that the server got the \(method)")
            }
        }
    }

    // MARK: Over TLS

    private static func request(
        _ subject: ConformanceSubject, _ path: String, _ method: ServiceRequest.Method = .get
    ) throws -> ServiceRequest {
        let server = try subject.need(\.careless, "careless")
        return try subject.request(server.appending(path: path), method, body: method == .post ? RequestBody(Data("once".utf8)) : nil)
    }

    /// Like ``next(after:_:_:_:act:)`` with a server that doesn't report when it is done: on a busy machine that may take longer.
    private static func next(afterLate names: [String], _ subject: ConformanceSubject) async throws {
        for name in names {
            for method in [ServiceRequest.Method.get, .post] {
                var failure: (any Error)?
                for time in [Duration.milliseconds(60), .milliseconds(600), .seconds(3)] {
                    do {
                        _ = try await subject.exchange(try request(subject, "late/\(name)"))
                        try await Task.sleep(for: time)
                        try await subject.expect(
                            200, "second", for: try request(subject, "next", method), "\(name), the \(method) after it")
                        failure = nil
                        break
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
        }
    }

    @Sendable private static func secureBytes(_ subject: ConformanceSubject) async throws {
        try await next(afterLate: ["408", "answer", "answer-204", "answer-chunks", "body-204", "break", "half", "part"], subject)
    }

    @Sendable private static func secureEnd(_ subject: ConformanceSubject) async throws {
        try await next(afterLate: ["notify", "close", "end", "reset"], subject)
    }

    @Sendable private static func unannouncedEnd(_ subject: ConformanceSubject) async throws {
        for name in ["notify-closing", "notify-old", "end-length-closing", "end-chunks-closing"] {
            try await subject.expect(200, "whole", for: try request(subject, "end/\(name)"), name)
        }
        for name in ["end", "end-old", "end-closing", "end-large"] {
            try await subject.expect(.truncated, for: try request(subject, "end/\(name)"), name)
        }
    }
}
