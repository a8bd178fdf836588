import Foundation
import WebServiceClient
import WebServiceTesting

/// Request bodies that fail, and servers that don't accept them.
enum UploadFailureCases {
    static let all = [
        ConformanceCase("uploads/failing-stream", "A stream's error is thrown, and no complete request is sent.", run: failing),
        ConformanceCase("uploads/short-stream", "A stream shorter than its length is an error, and never a complete request.", run: short),
        ConformanceCase("uploads/long-stream", "A stream longer than its length is an error, and no byte beyond is sent.", run: long),
        ConformanceCase("uploads/changed-file", "A missing or shorter file is an error, and never a complete request.", run: changed),
        ConformanceCase("uploads/shrinking-file", "A file that shrinks while it is sent is an error.", run: shrinking),
        ConformanceCase("uploads/early-answer", "A response before the body's end, without a close, is delivered.", run: early),
        ConformanceCase("uploads/early-answer-closing", "A response before the body's end, then a close, is delivered.", run: closing),
        ConformanceCase("uploads/early-answer-stream", "A response before the end of a streamed body is delivered.", run: earlyStream),
        ConformanceCase(
            "uploads/early-answer-reset", "A response before the body's end, then a reset, is delivered or lost.", run: earlyReset),
        ConformanceCase("uploads/no-reader", "A server that disconnects during a body is a lost connection.", run: noReader),
        ConformanceCase("uploads/no-reader-stream", "A disconnect during a stream or file is a lost connection.", run: noReaderStream),
    ]

    private struct Broken: Error {}

    /// Demands that the server saw no complete request.
    private static func nothingWhole(_ server: LoopbackServer, _ what: String) async throws {
        // All sent bytes have arrived once the connections have ended.
        try await server.waitForOpenConnections(atMost: 0)
        try demand(server.requests.isEmpty, "\(what): the server got a complete request of \(server.requests.map(\.bodyLength)) bytes")
    }

    @Sendable private static func failing(_ subject: ConformanceSubject) async throws {
        for (length, first) in [(nil, 10), (100_000, 10), (nil, 500_000), (1_000_000, 500_000), (nil, 0)] as [(Int64?, Int)] {
            try await answering(with: .text("ok")) { server in
                let body = RequestBody(length: length) {
                    AsyncThrowingStream {
                        $0.yield(ConformanceBytes.make(first))
                        $0.finish(throwing: Broken())
                    }
                }
                do {
                    _ = try await subject.exchange(try server.request(.post, body: body))
                    throw TestingFailure("A stream that fails after \(first) bytes: expected its error, found a response")
                } catch is Broken {}
                try await nothingWhole(server, "A stream that fails after \(first) bytes")
            }
        }
    }

    @Sendable private static func short(_ subject: ConformanceSubject) async throws {
        for (length, count) in [(5, 1), (5, 0), (1_000_000, 999_999)] {
            try await answering(with: .text("ok")) { server in
                let body = RequestBody.pieces(of: ConformanceBytes.make(count), by: 100_000, length: Int64(length))
                try await expectBodyError(for: try server.request(.post, body: body), "\(count) of \(length) bytes", subject)
                try await nothingWhole(server, "\(count) of \(length) bytes")
            }
        }
    }

    @Sendable private static func long(_ subject: ConformanceSubject) async throws {
        for (length, count, size) in [(5, 6, 1), (0, 1, 1), (5, 100, 100), (999_999, 1_000_000, 100_000)] {
            // The bytes that fit may already form a complete request, but the bytes after them must not be sent. The server doesn't answer:
            // even a slow client must detect the error by itself.
            let beyond = Locked(0)
            let script = LoopbackResponse.script { wire in
                while let bytes = try wire.read() { beyond.withLock { $0 += bytes.count } }
            }
            try await answering(with: script) { server in
                let body = RequestBody.pieces(of: ConformanceBytes.make(count), by: size, length: Int64(length))
                try await expectBodyError(for: try server.request(.post, body: body), "\(count) bytes for \(length)", subject)
                try await server.waitForOpenConnections(atMost: 0)
                try demand(server.requests.allSatisfy { $0.bodyLength == length }, "The server got \(server.requests)")
                try demand(beyond.withLock { $0 }, is: 0, "The bytes that the server got beyond \(length)")
                try demand(server.failures, is: [], "The server's failures")
            }
        }
    }

    private static func expectBodyError(for request: ServiceRequest, _ what: String, _ subject: ConformanceSubject) async throws {
        do {
            let (response, _) = try await subject.exchange(request)
            throw TestingFailure("\(what): expected a RequestBodyError, found status \(response.status)")
        } catch is RequestBodyError {}
    }

    @Sendable private static func changed(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        for length in [0, 9_999, 500] as [UInt64] {
            try await answering(with: .text("ok")) { server in
                let file = try folder.file(ConformanceBytes.make(10_000))
                let body = try RequestBody(file: file)
                try ConformanceFolder.truncate(file, to: length)
                try await expectBodyError(for: try server.request(.post, body: body), "A file of \(length) bytes for 10000", subject)
                try await nothingWhole(server, "A file of \(length) bytes for 10000")
            }
        }
        try await answering(with: .text("ok")) { server in
            let file = try folder.file(ConformanceBytes.make(10_000))
            let body = try RequestBody(file: file)
            try FileManager.default.removeItem(at: file)
            try await expectBodyError(for: try server.request(.post, body: body), "A missing file", subject)
            try await nothingWhole(server, "A missing file")
        }
    }

    @Sendable private static func shrinking(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let file = try folder.sparseFile(64 << 20)
        let body = try RequestBody(file: file)
        let script = LoopbackResponse.script { wire in
            try ConformanceFolder.truncate(file, to: 10)
            try wire.readToEnd()
        }
        try await answering(reading: .headOnly, { _ in script }) { server in
            var request = try server.request(.post, body: body)
            // The time counts from the start of the attempt and includes reading the file: long enough for a busy machine.
            request.timeouts.firstByte = .seconds(45)
            do {
                let (response, _) = try await subject.exchange(request)
                throw TestingFailure("A file that shrinks while it is sent: expected an error, found status \(response.status)")
            } catch let error as TransportError where error.isTimeout {
                throw TestingFailure("A file that shrinks while it is sent: expected an error at once, found \(error)")
            } catch let error where error is TransportError || error is RequestBodyError {}
        }
    }

    /// Demands that a response sent before the server has read the body is delivered.
    private static func answered(_ answer: LoopbackResponse, to body: RequestBody, _ subject: ConformanceSubject) async throws {
        try await answering(reading: .headOnly, { _ in answer }) { server in
            try await subject.expect(413, "too large", for: try server.request(.post, body: body))
            try demand(server.requests.count, is: 1, "The requests that reached the server")
        }
    }

    private static let refusal = LoopbackResponse.text("too large", status: 413)

    @Sendable private static func early(_ subject: ConformanceSubject) async throws {
        try await answered(refusal, to: RequestBody(ConformanceBytes.make(3 << 20)), subject)
    }

    @Sendable private static func closing(_ subject: ConformanceSubject) async throws {
        try await answered(refusal.closing(), to: RequestBody(ConformanceBytes.make(3 << 20)), subject)
    }

    @Sendable private static func earlyStream(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(3 << 20)
        for length in [nil, Int64(data.count)] {
            try await answered(refusal, to: .pieces(of: data, by: 50_000, length: length), subject)
            try await answered(refusal.closing(), to: .pieces(of: data, by: 50_000, length: length), subject)
        }
    }

    @Sendable private static func earlyReset(_ subject: ConformanceSubject) async throws {
        let script = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
            wire.reset()
        }
        try await answering(reading: .headOnly, { _ in script }) { server in
            let request = try server.request(.post, body: RequestBody(ConformanceBytes.make(3 << 20)))
            try await subject.expect("large", or: [.connectionLost, .truncated], for: request)
            try demand(server.requests.count, is: 1, "The requests that reached the server")
        }
    }

    @Sendable private static func noReader(_ subject: ConformanceSubject) async throws {
        try await lost(RequestBody(ConformanceBytes.make(3 << 20)), subject)
    }

    @Sendable private static func noReaderStream(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let data = ConformanceBytes.make(3 << 20)
        try await lost(.pieces(of: data, by: 50_000), subject)
        try await lost(.pieces(of: data, by: 50_000, length: Int64(data.count)), subject)
        try await lost(try RequestBody(file: try folder.file(data)), subject)
    }

    /// Demands the right error if the server resets the connection during the body.
    private static func lost(_ body: RequestBody, _ subject: ConformanceSubject) async throws {
        let script = LoopbackResponse.script { wire in
            for _ in 0..<3 { _ = try wire.read() }
            wire.reset()
        }
        try await answering(reading: .headOnly, { _ in script }) { server in
            try await subject.expect(.connectionLost, for: try server.request(.post, body: body))
            try demand(server.requests.count, is: 1, "The requests that reached the server")
        }
    }
}
