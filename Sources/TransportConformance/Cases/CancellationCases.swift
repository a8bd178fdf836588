import Foundation
import WebServiceClient
import WebServiceTesting

/// Cancelled tasks.
enum CancellationCases {
    static let all = [
        ConformanceCase("cancellation/before", "A task that is already cancelled sends nothing.", run: before),
        ConformanceCase("cancellation/connecting", "Cancelling while TLS doesn't answer ends the call.", run: connecting),
        ConformanceCase("cancellation/waiting", "Cancelling while waiting for the head ends the call and the connection.", run: waiting),
        ConformanceCase("cancellation/uploading", "Cancelling while the body is sent ends the call and the connection.", run: uploading),
        ConformanceCase("cancellation/uploading-stream", "Cancelling a stream or file upload ends the connection.", run: uploadingStream),
        ConformanceCase("cancellation/stalled-stream", "Cancelling while the body's stream is stalled ends the call.", run: stalled),
        ConformanceCase("cancellation/reading", "Cancelling while the body is read ends the call and the connection.", run: reading),
        ConformanceCase(
            "cancellation/between", "Cancelling between two pieces of the body ends the call and the connection.", run: between),
        ConformanceCase(
            "cancellation/storm", "100 concurrent calls, cancelled at any moment, all end with their connections.", run: storm),
        ConformanceCase(
            "cancellation/call", "A client that cancels its call ends it with the reason, while waiting for the head or the body.",
            run: call),
        ConformanceCase("cancellation/race", "Calls that are cancelled as they complete are answered or cancelled.", run: race),
    ]

    /// Demands that a call, cancelled once a condition is met, ends with `CancellationError`.
    private static func cancel(
        _ request: ServiceRequest, when ready: () -> Bool, _ what: String, _ subject: ConformanceSubject
    ) async throws {
        let task = Task { await ConformanceEnding.of { _ = try await subject.exchange(request) } }
        while !ready() { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        try demand(await task.value, is: .cancelled, what)
    }

    @Sendable private static func before(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            let request = try server.request(.post, body: RequestBody(Data("x".utf8)))
            for _ in 0..<10 {
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await ConformanceEnding.of { _ = try await subject.exchange(request) }
                }
                try demand(await task.value, is: .cancelled, "A call from a cancelled task")
            }
            try demand(server.requests.isEmpty, "The request was sent anyway")
        }
    }

    @Sendable private static func connecting(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.silent)
        defer { withExtendedLifetime(port) {} }
        guard let url = URL(string: "https://127.0.0.1:\(port.number)/") else { throw TestingFailure("No URL") }
        let start = ContinuousClock.now
        try await cancel(
            ServiceRequest(url: url), when: { start.duration(to: .now) > .milliseconds(100) }, "Cancelled while waiting for TLS", subject)
    }

    @Sendable private static func waiting(_ subject: ConformanceSubject) async throws {
        try await answering(with: .hang) { server in
            try await cancel(try server.request(), when: { !server.requests.isEmpty }, "Cancelled while waiting for the head", subject)
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Sendable private static func uploading(_ subject: ConformanceSubject) async throws {
        try await cancelUpload(of: RequestBody(ConformanceBytes.make(32 << 20)), "bytes", subject)
    }

    @Sendable private static func uploadingStream(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        try await cancelUpload(of: .pieces(of: Data(count: 32 << 20), by: 200_000), "a stream", subject)
        try await cancelUpload(of: try RequestBody(file: try folder.sparseFile(32 << 20)), "a file", subject)
    }

    /// Cancels while 32 MB are sent to a slow server.
    private static func cancelUpload(of body: RequestBody, _ name: String, _ subject: ConformanceSubject) async throws {
        let received = Locked(0)
        let script = LoopbackResponse.script { wire in
            while let bytes = try wire.read() {
                received.withLock { $0 += bytes.count }
                try wire.pause(for: .milliseconds(20))
            }
        }
        try await answering(reading: .headOnly, { _ in script }) { server in
            let request = try server.request(.post, body: body)
            try await cancel(request, when: { received.withLock { $0 } > 0 }, "Cancelled while \(name) is sent", subject)
            try await server.waitForOpenConnections(atMost: 0)
            try demand(received.withLock { $0 } < 32 << 20, "All of the body was sent")
        }
    }

    @Sendable private static func stalled(_ subject: ConformanceSubject) async throws {
        let opened = Locked(false)
        let source = AsyncThrowingStream<Data, any Error>.makeStream()
        source.continuation.yield(Data("x".utf8))
        let body = RequestBody {
            opened.withLock { $0 = true }
            return source.stream
        }
        try await answering(with: .text("ok")) { server in
            let request = try server.request(.post, body: body)
            try await cancel(request, when: { opened.withLock { $0 } }, "Cancelled while the stream is stalled", subject)
            try await server.waitForOpenConnections(atMost: 0)
            try demand(server.requests.isEmpty, "The server got a complete request")
        }
        source.continuation.finish()
    }

    @Sendable private static func reading(_ subject: ConformanceSubject) async throws {
        let hanging = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
            try wire.hang()
        }
        for response in [hanging, .drip(Data("x".utf8), every: .milliseconds(5))] {
            try await answering(with: response) { server in
                let received = Locked(0)
                let request = try server.request()
                let task = Task {
                    await ConformanceEnding.of {
                        for try await piece in try await subject.transport.send(request).body { received.withLock { $0 += piece.count } }
                    }
                }
                while received.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(2)) }
                task.cancel()
                try demand(await task.value, is: .cancelled, "Cancelled while the body is read")
                try await server.waitForOpenConnections(atMost: 0)
            }
        }
    }

    @Sendable private static func call(_ subject: ConformanceSubject) async throws {
        let isSent = Locked(false)
        let halfSent = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
            isSent.withLock { $0 = true }
            try wire.hang()
        }
        for (response, place) in [(LoopbackResponse.hang, "head"), (halfSent, "body")] {
            try await answering(with: response) { server in
                let transport = subject.transport
                let client = WebServiceClient(serviceRoot: server.url.absoluteString) { $0.transport = transport }
                let task = Task { () -> (any Error)? in
                    do {
                        _ = try await client.http.get("/").value(Data.self)
                        return nil
                    } catch {
                        return error
                    }
                }
                _ = try await server.waitForRequests(count: 1)
                while place == "body" && !isSent.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
                client.cancelAll(reason: "The test cancels it.")
                let error = await task.value
                let cause = (error as? ServiceError)?.cause as? CallCancelled
                try demand(
                    cause?.reason, is: "The test cancels it.",
                    "The reason of a call cancelled while it waits for the \(place), which ended with \(error.map { "\($0)" } ?? "an answer")"
                )
                try await server.waitForOpenConnections(atMost: 0)
            }
        }
    }

    @Sendable private static func between(_ subject: ConformanceSubject) async throws {
        try await answering(with: .drip(Data("x".utf8), every: .milliseconds(5))) { server in
            let request = try server.request()
            let task = Task {
                await ConformanceEnding.of {
                    for try await _ in try await subject.transport.send(request).body { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            try demand(await task.value, is: .cancelled, "Cancelled between two pieces")
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Sendable private static func storm(_ subject: ConformanceSubject) async throws {
        try await serving({ routes in
            routes.get("/hang") { _ in .hang }
            routes.get("/drip") { _ in .drip(Data("x".utf8), every: .milliseconds(5)) }
            routes.get("/late") { _ in .text("late").delayed(by: .seconds(30)) }
            routes.on("POST", "/upload", reading: .headOnly) { _ in .hang }
        }) { server in
            let body = RequestBody(ConformanceBytes.make(100_000))
            let endings = try await withThrowingTaskGroup(of: ConformanceEnding.self) { group in
                for number in 0..<100 {
                    let target = ["/hang", "/drip", "/late", "/upload"][number % 4]
                    let request = try server.request(number % 4 == 3 ? .post : .get, target, body: number % 4 == 3 ? body : nil)
                    group.addTask {
                        let task = Task { await ConformanceEnding.of { _ = try await subject.exchange(request) } }
                        try await Task.sleep(for: .microseconds(number * 7_919 % 100_000))
                        task.cancel()
                        return await task.value
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let others = endings.filter { $0 != .cancelled }
            try demand(endings.count, is: 100, "The calls that ended")
            try demand(others.isEmpty, "Expected cancellations only, found \(others.count) others: \(others.prefix(3))")
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Sendable private static func race(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            let request = try server.request()
            let endings = try await withThrowingTaskGroup(of: ConformanceEnding.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let task = Task { await ConformanceEnding.of { _ = try await subject.exchange(request) } }
                        try await Task.sleep(for: .microseconds(number * 7_919 % 40_000))
                        task.cancel()
                        return await task.value
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let others = endings.filter { $0 != .cancelled && $0 != .answered }
            try demand(others.isEmpty && endings.count == 200, "Expected answers and cancellations, found \(others.prefix(3))")
            try await subject.expect(200, "ok", for: request, "A request after all")
        }
    }
}
