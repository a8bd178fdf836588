import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Calls that are cancelled from outside their task, at each stage.
@Suite struct CancelledCallTests {
    /// Counts what it is asked.
    private struct Judge: ErrorHandler {
        let count: Locked<Int>

        func verdict(on outcome: CallOutcome) -> ErrorVerdict {
            count.withLock { $0 += 1 }
            return .default
        }
    }

    /// Cancels the client's only call when it is asked.
    private struct CancellingJudge: ErrorHandler {
        let client: Locked<Store?>

        func verdict(on outcome: CallOutcome) -> ErrorVerdict {
            client.withLock { $0 }?.cancelAll(reason: "During the verdict.")
            return .accept
        }
    }

    /// A value whose decoding cancels its call.
    private struct Cancelling: Decodable {
        @TaskLocal static var client: Store?

        init(from decoder: any Decoder) throws {
            Self.client?.cancelAll(reason: "While it was decoded.")
        }
    }

    private func expect(_ error: ServiceError?, _ reason: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(error?.kind == .cancelled, sourceLocation: location)
        #expect((error?.cause as? CallCancelled)?.reason == reason, sourceLocation: location)
        #expect(error?.message.contains(reason) == true, sourceLocation: location)
    }

    @Test func `in flight, a plain call ends with the reason, and the handler isn't asked`() async throws {
        let gate = Gate()
        let count = Locked(0)
        let (client, _) = Store.stubbed(gate.then("{}"), configure: { $0.errorHandler = Judge(count: count) })
        let error = try await watched { () -> ServiceError? in
            let call = Task { try await client.http.get("/a").send() }
            try await gate.arrived()
            #expect(client.calls.map(\.state) == [.running])
            #expect(client.calls.first?.identity.client == "Store")
            #expect(client.cancelAll(reason: "Enough.") == 1)
            #expect(client.cancelAll(reason: "Again.") == 0)
            return await serviceError { _ = try await call.value }
        }
        expect(error, "Enough.")
        #expect(error?.request?.url == "https://api.test/v1/a")
        #expect(count.withLock { $0 } == 0)
        #expect(client.calls.isEmpty)
    }

    @Test func `while an interceptor runs, the call isn't sent`() async throws {
        let (client, stub) = Store.stubbed(configure: { configuration in
            configuration.interceptors = [RequestPreparer { [gate = Gate()] _ in gate.open() }]
        })
        client.configure { configuration in
            configuration.interceptors = [RequestPreparer { [weak client] _ in client?.cancelAll(reason: "Prepared.") }]
        }
        expect(await serviceError { try await client.http.get("/a").send() }, "Prepared.")
        #expect(stub.requests.isEmpty)
    }

    @Test func `a wait of a stage ends`() async throws {
        try await watched {
            let cancellation = CallCancellation()
            let wait = Task { try await CallClock.system.sleep(.seconds(3_600), unless: cancellation) }
            cancellation.cancel(CallCancelled(reason: "Enough."))
            await #expect(throws: CallCancelled.self) { try await wait.value }
        }
    }

    @Test func `the body of a transport that knows no calls is cancelled`() async throws {
        let isCancelled = Locked(false)
        let reading = Gate()
        let (client, _) = Store.stubbed(
            StubAnswer { request in
                TransportResponse(
                    status: 200, url: request.request.url,
                    body: ResponseBody(
                        expectedLength: nil,
                        next: {
                            try await reading.pass()
                            return nil
                        },
                        cancel: {
                            isCancelled.withLock { $0 = true }
                            reading.open()
                        }))
            })
        let error = try await watched { () -> ServiceError? in
            let call = Task { try await client.http.get("/a").value(String.self) }
            try await reading.arrived()
            client.cancelAll(reason: "Enough.")
            return await serviceError { _ = try await call.value }
        }
        expect(error, "Enough.")
        #expect(isCancelled.withLock { $0 })
        #expect(error?.response?.status == 200)
    }

    @Test func `during the verdict and while decoding, no success follows`() async throws {
        let judge = CancellingJudge(client: Locked(nil))
        let (client, _) = Store.stubbed(configure: { $0.errorHandler = judge })
        judge.client.withLock { $0 = client }
        expect(await serviceError { try await client.http.get("/a").send() }, "During the verdict.")
        judge.client.withLock { $0 = nil }
        let error = await serviceError {
            try await Cancelling.$client.withValue(client) { _ = try await client.http.get("/a").value(Cancelling.self) }
        }
        expect(error, "While it was decoded.")
    }

    @Test func `a finished call can't be cancelled`() async throws {
        let seen = Locked<LiveCall?>(nil)
        let (client, _) = Store.stubbed()
        client.configure { configuration in
            configuration.interceptors = [RequestPreparer { [weak client] _ in seen.withLock { $0 = client?.calls.first } }]
        }
        try await client.http.get("/a").send()
        let call = try #require(seen.withLock { $0 })
        #expect(call.state == .finished)
        #expect(call.cancel(reason: "Too late.") == false)
        #expect(call.state == .finished && call.attempt == 1)
    }

    @Test func `the task's own cancellation stays CancellationError`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then("{}"))
        try await watched {
            let task = Task { try await client.http.get("/a").send() }
            try await gate.arrived()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(client.calls.isEmpty)
    }

    @Test func `a stream is listed until its body ends, and cancelled while it is read`() async throws {
        let more = Gate()
        let (client, _) = Store.stubbed(
            StubAnswer { request in
                let count = Locked(0)
                return TransportResponse(
                    status: 200, url: request.request.url,
                    body: ResponseBody(
                        expectedLength: nil,
                        next: {
                            let number = count.withLock { count in
                                count += 1
                                return count
                            }
                            if number == 2 { try await more.pass() }
                            return number < 3 ? Data("x".utf8) : nil
                        }, cancel: { more.open() }))
            })
        try await watched {
            let body = try await client.http.get("/a").stream().value
            var reader = body.makeAsyncIterator()
            #expect(try await reader.next() == Data("x".utf8))
            #expect(client.calls.count == 1)
            client.cancelAll(reason: "Enough.")
            let error = await serviceError { [reader] in
                var reader = reader
                _ = try await reader.next()
            }
            self.expect(error, "Enough.")
            #expect(client.calls.isEmpty)
            // Dropped unread, and read to its end.
            _ = try await client.http.get("/a").stream()
            #expect(client.calls.isEmpty)
            more.open()
            for try await _ in try await client.http.get("/a").stream().value {}
            #expect(client.calls.isEmpty)
        }
    }

    @Test(arguments: ["hang", "drip", "head"])
    func `a real exchange ends before and after its head`(_ kind: String) async throws {
        let arrived = Gate()
        let server = try LoopbackServer { routes in
            routes.fallback { (_: LoopbackRequest) -> LoopbackResponse in
                switch kind {
                case "hang": return .hang
                // Few bytes: the body must not reach its limit before the call is cancelled.
                case "drip": return .drip(Data(" ".utf8), every: .milliseconds(5))
                default:
                    return .script { wire in
                        try wire.write("HTTP/1.1 200 OK\r\nContent-Le")
                        try wire.hang()
                    }
                }
            }
        }
        defer { server.stop() }
        for transport in [DefaultTransport.shared, URLSessionTransport.shared] as [any Transport] {
            // Corelibs' URLSession crashes if a head is cut off.
            if transport is URLSessionTransport, kind == "head" { continue }
            let client = Store(serviceRoot: server.url.absoluteString) { $0.transport = transport }
            server.forgetRequests()
            let error = try await watched { () -> ServiceError? in
                let call = Task { try await client.http.get("/a").value(String.self) }
                try await until { !server.requests.isEmpty && (kind != "drip" || client.calls.first?.record.exchange?.answer != nil) }
                client.cancelAll(reason: "Enough.")
                return await serviceError { _ = try await call.value }
            }
            expect(error, "Enough.")
            #expect(client.calls.isEmpty)
        }
        arrived.open()
    }

    @Test func `each deadline says which it is`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/hang") { (_: LoopbackRequest) in .hang }
            routes.get("/idle") { (_: LoopbackRequest) in
                .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                    try wire.hang()
                }
            }
        }
        defer { server.stop() }
        let client = Store(serviceRoot: server.url.absoluteString)
        func code(_ path: String, _ timeouts: ServiceTimeouts) async -> TransportError.Code? {
            let error = await serviceError { try await client.http.get(path).describing { $0.timeouts(timeouts) }.send() }
            #expect(error?.kind == .timeout)
            return (error?.cause as? TransportError)?.code
        }
        let short = Duration.milliseconds(30)
        #expect(await code("/hang", ServiceTimeouts(firstByte: short)) == .timedOutWaiting)
        #expect(await code("/idle", ServiceTimeouts(idle: short)) == .timedOutIdle)
        #expect(await code("/hang", ServiceTimeouts(total: short)) == .timedOutTotal)
    }

    @Test func `a total deadline ends a call over a transport that keeps none, and one that has passed sends nothing`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = time.client { Store(serviceRoot: "https://api.test") { $0.transport = transport } }
            let error = await serviceError { try await client.http.get("/a").timeout(.seconds(5)).send() }
            #expect(error?.kind == .timeout && (error?.cause as? TransportError)?.code == .timedOutTotal)
            #expect(time.elapsed() == .seconds(5) && client.calls.isEmpty && transport.sent.count == 1)
            for total in [Duration.zero, .seconds(-5), .nanoseconds(Int64.min)] {
                let late = await serviceError { try await client.http.get("/b").timeout(total).send() }
                #expect(late?.kind == .timeout && transport.sent.count == 1)
            }
        }
    }

    @Test func `a total deadline ends a call whose interceptor or preparer hangs`() async throws {
        let (client, stub) = Store.stubbed(configure: {
            $0.interceptors = [RequestPreparer { _ in try await Task.sleep(for: .seconds(3_600)) }]
        })
        let (plain, _) = Store.stubbed()
        try await watched {
            for call in [
                client.http.get("/a").timeout(.milliseconds(20)),
                plain.http.get("/a").timeout(.milliseconds(20)).prepare { _ in try await Task.sleep(for: .seconds(3_600)) },
            ] {
                let error = await serviceError { try await call.send() }
                #expect(error?.kind == .timeout)
                #expect((error?.cause as? TransportError)?.code == .timedOutTotal)
            }
        }
        #expect(stub.requests.isEmpty)
    }
}
