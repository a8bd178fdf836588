import Foundation
import WebServiceClient
import WebServiceTesting

/// Timeouts while a request's body is sent.
enum UploadDeadlineCases {
    static let all = [
        ConformanceCase(
            "deadlines/first-byte-upload", "A body that stalls while it is sent ends at the first-byte timeout.", run: stalled),
        ConformanceCase(
            "deadlines/first-byte-slow-stream", "A stream that takes longer than that timeout without stalling arrives.", run: slowStream),
        ConformanceCase(
            "deadlines/first-byte-slow-server", "A body that the server takes longer to read arrives, from memory and a file.",
            run: slowServer),
    ]

    @Sendable private static func stalled(_ subject: ConformanceSubject) async throws {
        let time = Duration.milliseconds(200)
        let stalled = AsyncThrowingStream<Data, any Error>.makeStream()
        stalled.continuation.yield(Data("x".utf8))
        try await answering(with: .text("ok")) { server in
            var request = try server.request(.post, body: RequestBody { stalled.stream })
            request.timeouts.firstByte = time
            let start = ContinuousClock.now
            try await subject.expect(.timedOutWaiting, for: request)
            let elapsed = start.duration(to: .now)
            try demand(elapsed >= time - .milliseconds(20), "It ended after \(elapsed), before its timeout of \(time)")
            try await server.waitForOpenConnections(atMost: 0)
            try demand(server.requests.isEmpty, "The server got a complete request")
        }
        stalled.continuation.finish()
    }

    @Sendable private static func slowStream(_ subject: ConformanceSubject) async throws {
        try await patiently { time in
            let body = RequestBody {
                let left = Locked(8)
                return AsyncThrowingStream {
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    guard !isOver else { return nil }
                    try await Task.sleep(for: time / 4)
                    return Data("x".utf8)
                }
            }
            try await answering({ .text("\($0.bodyLength)") }) { server in
                var request = try server.request(.post, body: body)
                request.timeouts.firstByte = time
                try await subject.expect(200, "8", for: request)
            }
        }
    }

    @Sendable private static func slowServer(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        // Much more than the socket buffers hold.
        let count = 32 << 20
        for body in [RequestBody(ConformanceBytes.make(count)), try RequestBody(file: try folder.sparseFile(UInt64(count)))] {
            try await patiently { time in
                let script = LoopbackResponse.script { wire in
                    let start = ContinuousClock.now
                    var received = 0
                    while received < count, let bytes = try wire.read() {
                        received += bytes.count
                        let ahead = start + time * 2 * (Double(received) / Double(count)) - .now
                        if ahead > .zero { try wire.pause(for: ahead) }
                    }
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                try await answering(reading: .headOnly, { _ in script }) { server in
                    var request = try server.request(.post, body: body)
                    request.timeouts.firstByte = time
                    try await subject.expect(200, "ok", for: request)
                }
            }
        }
    }
}
