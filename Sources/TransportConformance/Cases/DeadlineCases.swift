import Foundation
import WebServiceClient
import WebServiceTesting

/// Timeouts and deadlines.
enum DeadlineCases {
    static let all = [
        ConformanceCase(
            "deadlines/connect", "A connection whose TLS gets no answer ends at the connect timeout.", needing: .connectDeadlines,
            run: connect),
        ConformanceCase(
            "deadlines/connect-queue", "A connection that isn't accepted times out, too.", needing: .connectDeadlines, run: connectQueue),
        ConformanceCase(
            "deadlines/connect-over", "The connect timeout doesn't apply to an established connection.", needing: .connectDeadlines,
            run: connectOver),
        ConformanceCase(
            "deadlines/connect-refused", "A connect timeout that can't be enforced is refused as unsupported.", run: connectRefused),
        ConformanceCase("deadlines/first-byte", "A server that never answers triggers the first-byte timeout.", run: firstByte),
        ConformanceCase("deadlines/first-byte-tls", "A server whose TLS never answers triggers the first-byte timeout.", run: firstByteTLS),
        ConformanceCase("deadlines/first-byte-interim", "Informational responses don't extend the first-byte timeout.", run: interim),
        ConformanceCase(
            "deadlines/first-byte-over", "The first-byte timeout doesn't apply after the head.", run: firstByteOver),
        ConformanceCase("deadlines/idle", "A stalled body ends at the idle timeout, after the bytes received so far.", run: idle),
        ConformanceCase("deadlines/idle-drip", "A body that drips faster than the idle timeout is read to its end.", run: idleDrip),
        ConformanceCase("deadlines/total", "The total timeout ends the wait for a head, a dripping body, and the connection.", run: total),
        ConformanceCase("deadlines/deadline", "The call's deadline ends the call as well, and overrides the total timeout.", run: deadline),
        ConformanceCase("deadlines/past", "Nothing is sent after the deadline.", run: past),
        ConformanceCase("deadlines/unbounded", "Missing, very long and negative timeouts don't trap.", run: unbounded),
    ]

    private static let short = Duration.milliseconds(200)

    /// Demands an error code, no earlier than the time.
    private static func expect(
        _ code: TransportError.Code, after time: Duration = short, since start: ContinuousClock.Instant = .now,
        for request: ServiceRequest, _ subject: ConformanceSubject
    ) async throws {
        try await subject.expect(code, for: request)
        let elapsed = start.duration(to: .now)
        try demand(elapsed >= time - .milliseconds(20), "It ended after \(elapsed), before its timeout of \(time)")
    }

    private static func request(_ port: LoopbackPort, scheme: String) throws -> ServiceRequest {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port.number)/") else { throw TestingFailure("No URL") }
        return ServiceRequest(url: url)
    }

    @Sendable private static func connect(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.silent)
        defer { withExtendedLifetime(port) {} }
        var request = try request(port, scheme: "https")
        request.timeouts.connect = short
        try await expect(.timedOutConnecting, for: request, subject)
    }

    @Sendable private static func connectQueue(_ subject: ConformanceSubject) async throws {
        #if os(Linux)
        let port = try LoopbackPort(.full)
        defer { withExtendedLifetime(port) {} }
        var request = try request(port, scheme: "http")
        request.timeouts.connect = short
        try await expect(.timedOutConnecting, for: request, subject)
        #else
        throw ConformanceSkip("Only Linux lets connections wait when their queue is full.")
        #endif
    }

    @Sendable private static func connectOver(_ subject: ConformanceSubject) async throws {
        try await patiently { time in
            try await answering(with: .pieces([.init("o"), .init("k", after: time)]).delayed(by: time * 2)) { server in
                var request = try server.request()
                request.timeouts.connect = time
                try await subject.expect(200, "ok", for: request)
            }
        }
    }

    @Sendable private static func connectRefused(_ subject: ConformanceSubject) async throws {
        guard !subject.transport.capabilities.contains(.connectDeadlines) else { return }
        try await answering(with: .text("ok")) { server in
            var request = try server.request()
            request.timeouts.connect = .seconds(5)
            try await subject.expect(.unsupported, for: request)
            try demand(server.requests.isEmpty, "The request was sent anyway")
        }
    }

    @Sendable private static func firstByte(_ subject: ConformanceSubject) async throws {
        try await answering(with: .hang) { server in
            var request = try server.request()
            request.timeouts.firstByte = short
            try await expect(.timedOutWaiting, for: request, subject)
        }
    }

    @Sendable private static func firstByteTLS(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.silent)
        defer { withExtendedLifetime(port) {} }
        var request = try request(port, scheme: "https")
        request.timeouts.firstByte = short
        try await expect(.timedOutWaiting, for: request, subject)
    }

    @Sendable private static func interim(_ subject: ConformanceSubject) async throws {
        let script = LoopbackResponse.script { wire in
            while true {
                try wire.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                try wire.pause(for: .milliseconds(50))
            }
        }
        try await answering(with: script) { server in
            var request = try server.request()
            request.timeouts.firstByte = short
            try await expect(.timedOutWaiting, for: request, subject)
        }
    }

    @Sendable private static func firstByteOver(_ subject: ConformanceSubject) async throws {
        try await patiently { time in
            try await answering(with: .pieces([.init("o"), .init("k", after: time * 2)])) { server in
                var request = try server.request()
                request.timeouts.firstByte = time
                try await subject.expect(200, "ok", for: request)
            }
        }
    }

    @Sendable private static func idle(_ subject: ConformanceSubject) async throws {
        let script = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            try wire.hang()
        }
        try await answering(with: script) { server in
            var request = try server.request()
            request.timeouts.idle = short
            let start = ContinuousClock.now
            let response = try await subject.transport.send(request)
            var received = Data()
            do {
                for try await piece in response.body { received.append(piece) }
                throw TestingFailure("Expected `timedOutIdle`, found the end after \(received.count) bytes")
            } catch let error as TransportError {
                try demand(error.code, is: .timedOutIdle, "The error “\(error.message)”, its code")
            }
            try demand(start.duration(to: .now) >= short - .milliseconds(20), "The idle timeout fired too early")
            try demand(received, is: Data("half".utf8), "The bytes before the timeout")
        }
    }

    @Sendable private static func idleDrip(_ subject: ConformanceSubject) async throws {
        try await patiently { time in
            let pieces = (0..<8).map { LoopbackResponse.Piece("\($0)", after: time / 5) }
            try await answering(with: .pieces(pieces)) { server in
                var request = try server.request()
                request.timeouts.idle = time
                try await subject.expect(200, "01234567", for: request)
            }
        }
    }

    @Sendable private static func total(_ subject: ConformanceSubject) async throws {
        for response in [LoopbackResponse.hang, .drip(Data("x".utf8), every: .milliseconds(10))] {
            try await answering(with: response) { server in
                var request = try server.request()
                request.timeouts.total = short
                try await expect(.timedOutTotal, for: request, subject)
                try await server.waitForOpenConnections(atMost: 0)
            }
        }
    }

    @Sendable private static func deadline(_ subject: ConformanceSubject) async throws {
        for response in [LoopbackResponse.hang, .drip(Data("x".utf8), every: .milliseconds(10))] {
            try await answering(with: response) { server in
                var request = try server.request()
                request.timeouts.total = .seconds(60)
                let start = ContinuousClock.now
                request.deadline = start + short
                try await expect(.timedOutTotal, since: start, for: request, subject)
            }
        }
    }

    @Sendable private static func past(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            for past in [Duration.zero, .seconds(1), .seconds(1_000_000)] {
                var request = try server.request()
                request.deadline = .now - past
                try await subject.expect(.timedOutTotal, for: request, "A deadline \(past) ago")
            }
            try demand(server.requests.isEmpty, "The request was sent anyway")
        }
    }

    @Sendable private static func unbounded(_ subject: ConformanceSubject) async throws {
        let longest = Duration.seconds(Int64.max)
        try await answering(with: .text("ok")) { server in
            var request = try server.request()
            for time in [nil, longest] {
                request.timeouts = ServiceTimeouts(firstByte: time, idle: time, total: time)
                try await subject.expect(200, "ok", for: request)
            }
        }
        try await answering(with: .hang) { server in
            var request = try server.request()
            request.timeouts = ServiceTimeouts(firstByte: .seconds(Int64.min))
            try await subject.expect(.timedOutWaiting, for: request, "A negative first-byte timeout")
        }
    }
}
