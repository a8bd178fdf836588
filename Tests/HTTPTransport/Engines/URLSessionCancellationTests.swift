import Dispatch
import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite struct URLSessionCancellationTests {
    private let transport = URLSessionTransport()

    private static func drip(_ connection: RawConnection) {
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while connection.write("x") { usleep(5_000) }
    }

    private static func hang(_ connection: RawConnection) {
        guard connection.readRequest() != nil else { return }
        _ = connection.waitForClose()
    }

    /// How a task ended.
    private enum Ending: Equatable {
        case cancelled
        case answered
        case failed
    }

    private func end(of request: ServiceRequest, onHead: @escaping @Sendable () -> Void = {}) async -> Ending {
        do {
            let response = try await transport.send(request)
            onHead()
            for try await _ in response.body {}
            return .answered
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed
        }
    }

    @Test func `a cancelled task sends nothing`() async throws {
        let connections = Locked(0)
        let server = try RawServer { _ in connections.withLock { $0 += 1 } }
        let request = try server.request()
        let ending = try await watched {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await end(of: request)
            }
            return await task.value
        }
        #expect(ending == .cancelled)
        #expect(connections.withLock { $0 } == 0)
    }

    @Test func `cancelling while the head is awaited ends the call`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            arrived.continuation.yield()
            _ = connection.waitForClose()
        }
        let request = try server.request()
        let ending = try await watched {
            let task = Task { await end(of: request) }
            var iterator = arrived.stream.makeAsyncIterator()
            _ = await iterator.next()
            task.cancel()
            return await task.value
        }
        #expect(ending == .cancelled)
    }

    @Test func `cancelling while the body is read ends the transfer`() async throws {
        let closed = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            Self.drip(connection)
            closed.continuation.yield()
        }
        let request = try server.request()
        let ending = try await watched {
            let head = AsyncStream<Void>.makeStream()
            let task = Task { await end(of: request, onHead: { head.continuation.yield() }) }
            var heads = head.stream.makeAsyncIterator()
            _ = await heads.next()
            task.cancel()
            let ending = await task.value
            var closings = closed.stream.makeAsyncIterator()
            _ = await closings.next()
            return ending
        }
        #expect(ending == .cancelled)
    }

    @Test(arguments: [false, true]) func `dropping or cancelling the body ends the transfer`(explicit: Bool) async throws {
        let closed = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            Self.drip(connection)
            closed.continuation.yield()
        }
        let request = try server.request()
        try await watched { [transport] in
            var response: TransportResponse? = try await transport.send(request)
            if explicit, let body = response?.body {
                body.cancel()
                let code = try await failureCode { for try await _ in body {} }
                #expect(code == .other)
            }
            #expect(response?.status == 200)
            response = nil
            var closings = closed.stream.makeAsyncIterator()
            _ = await closings.next()
        }
    }

    @Test func `a body dropped after its end leaves the connection for the next call`() async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            connections.withLock { $0 += 1 }
            while connection.readRequest() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
        }
        let request = try server.request()
        try await watched { [transport] in
            for _ in 0..<10 { _ = try await transport.send(request) }
        }
        #expect(connections.withLock { $0 } == 1)
    }

    @Test(arguments: 0..<3) func `two hundred overlapping cancels all end, each once`(round: Int) async throws {
        let server = try RawServer { connection in
            round == 0 ? Self.hang(connection) : Self.drip(connection)
        }
        let request = try server.request()
        let endings = try await watched {
            await withTaskGroup(of: Ending.self) { group in
                var random = SeededGenerator(seed: UInt64(round) + 1)
                for _ in 0..<200 {
                    let patience = Duration.microseconds(Int64(random.next() % 200_000))
                    group.addTask {
                        let task = Task { await end(of: request) }
                        try? await Task.sleep(for: patience)
                        task.cancel()
                        return await task.value
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(endings == Array(repeating: .cancelled, count: 200))
        let fine = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let after = try fine.request()
        #expect(try await watched { await end(of: after) } == .answered)
    }

    @Test func `cancels that race with answers end as one or the other`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let request = try server.request()
        let endings = try await watched {
            await withTaskGroup(of: Ending.self) { group in
                var random = SeededGenerator(seed: 7)
                for _ in 0..<200 {
                    let patience = Duration.microseconds(Int64(random.next() % 60_000))
                    group.addTask {
                        let task = Task { await end(of: request) }
                        try? await Task.sleep(for: patience)
                        task.cancel()
                        return await task.value
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(endings.count == 200)
        #expect(!endings.contains(.failed))
    }

    /// On Linux, Foundation traps if its redirect handler is called after the task was cancelled.
    @Test func `a call that is cancelled before its redirect is looked at ends`() async throws {
        let redirected = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
            redirected.continuation.yield()
            _ = connection.waitForClose()
        }
        let fine = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        var request = try server.request()
        request.timeouts = ServiceTimeouts(firstByte: nil, idle: nil)
        // URLSession calls its delegate on the queue that reports progress, so this gate controls when it asks.
        let held = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let isFirst = Locked(true)
        var upload = try fine.request()
        // It is held for as long as a busy machine takes.
        upload.timeouts = ServiceTimeouts(firstByte: nil, idle: nil)
        upload.method = .post
        upload.body = RequestBody(Data("x".utf8))
        upload.uploadProgress = { _ in
            let holds = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard holds else { return }
            held.continuation.yield()
            gate.wait()
        }
        let (ending, other) = try await watched { [request, upload] in
            let holder = Task { await end(of: upload) }
            var holding = held.stream.makeAsyncIterator()
            _ = await holding.next()
            let task = Task { await end(of: request) }
            var answers = redirected.stream.makeAsyncIterator()
            _ = await answers.next()
            // URLSession's threads process the answer later, and report no event for it.
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            let ending = await task.value
            try await Task.sleep(for: .milliseconds(50))
            gate.signal()
            return (ending, await holder.value)
        }
        #expect(ending == .cancelled)
        #expect(other == .answered)
        let after = try fine.request()
        #expect(try await watched { await end(of: after) } == .answered)
    }
}
