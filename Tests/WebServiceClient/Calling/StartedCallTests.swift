import Dispatch
import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Handles of calls: ``Call``.
@Suite struct StartedCallTests {
    private let item = #"{"id": 1, "name": "one"}"#

    /// Collects what closures are called with.
    private final class Log: Sendable {
        private let entries = Locked<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        func add(_ result: Result<StoreItem, any Error>) {
            switch result {
            case .success(let item): add(item.name)
            case .failure(let error): add(((error as? ServiceError)?.cause as? CallCancelled)?.reason ?? "\(error)")
            }
        }
    }

    /// Reports whether a client still exists.
    private final class Witness: Sendable {
        private struct Reference { weak var client: Store? }

        private let reference = Locked(Reference())
        var client: Store? {
            get { reference.withLock { $0.client } }
            set { reference.withLock { $0.client = newValue } }
        }
    }

    // MARK: Result

    @Test func `a started call has one value for all readers`() async throws {
        let gate = Gate()
        let (client, stub) = Store.stubbed(gate.then(item))
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            try await gate.arrived()
            #expect(call.state == .running && call.attempts == 1 && call.resultSoFar == nil)
            #expect(call.request?.url.path == "/v1/items/1" && call.response == nil)
            async let one = call.value
            async let two = call.value
            gate.open()
            #expect(try await one == two)
            #expect(try await call.result.get().id == 1)
            #expect(call.state == .finished && call.response?.status == 200)
            #expect("\(call)" == "Store.item(id:): finished, 1 attempts")
            #expect(call.cancel(reason: "Too late.") == false)
        }
        #expect(stub.requests.count == 1 && client.calls.isEmpty)
    }

    @Test func `a call without a table starts too, and a failure is the call's error`() async throws {
        let (client, _) = Store.stubbed(.inTurn(.json(item), .status(404)))
        #expect(try await client.http.get("/a").start(StoreItem.self).value.name == "one")
        let error = await serviceError { _ = try await client.http.get("/a").start(StoreItem.self).value }
        #expect(error?.status == 404 && error?.kind == .status)
    }

    @Test func `a reader's cancellation leaves the call alone`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            try await gate.arrived()
            let reader = Task { try await call.value }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            #expect(call.state == .running)
            gate.open()
            #expect(try await call.value.name == "one")
        }
    }

    @Test func `a released handle leaves its call alone`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        let log = Log()
        try await watched {
            client.start { try await $0.item(id: 1) }.onCompletion(on: .taskPool) { log.add($0) }
            try await gate.arrived()
            gate.open()
            try await until { log.all == ["one"] }
        }
    }

    @Test func `several calls in one closure end with the handle, those of another client with the task`() async throws {
        let (gate, other) = (Gate(), Gate())
        let (client, _) = Store.stubbed(gate.then(item))
        let (second, _) = Store.stubbed(other.then(item))
        try await watched {
            let call = client.start { client in
                async let one = client.item(id: 1)
                async let two = client.item(id: 2)
                async let three = second.item(id: 3)
                return try await [one, two, three]
            }
            try await gate.arrived(2)
            try await other.arrived()
            call.cancel(reason: "Enough.")
            #expect(await serviceError { _ = try await call.value }?.kind == .cancelled)
            try await until { client.calls.isEmpty && second.calls.isEmpty }
        }
    }

    @Test func `a call retains its client until it has ended and its handle is released`() async throws {
        let gate = Gate()
        let witness = Witness()
        try await watched {
            var call: Call<StoreItem>?
            do {
                let (client, _) = Store.stubbed(gate.then(self.item))
                witness.client = client
                call = client.start { try await $0.item(id: 1) }
            }
            try await gate.arrived()
            #expect(witness.client != nil)
            gate.open()
            #expect(try await call?.value.name == "one")
            call = nil
            try await until { witness.client == nil }
        }
    }

    // MARK: Cancel

    @Test func `a call cancelled before its task begins never sends a request`() async throws {
        let (client, stub) = Store.stubbed(.json(item))
        for _ in 0..<50 {
            let call = client.start { try await $0.item(id: 1) }
            guard call.cancel(reason: "At once.") else { continue }
            let error = await serviceError { _ = try await call.value }
            #expect(error?.kind == .cancelled && (error?.cause as? CallCancelled)?.reason == "At once.")
            #expect(call.state == .cancelled)
        }
        try await watched { try await until { client.calls.isEmpty } }
        #expect(stub.requests.count <= 50)
    }

    @Test func `while a preparer waits, a cancelled handle ends it`() async throws {
        let gate = Gate()
        let ended = Locked(false)
        let (client, stub) = Store.stubbed(
            .json(item),
            configure: {
                $0.interceptors = [
                    RequestPreparer { _ in
                        do { try await gate.pass() } catch {
                            ended.withLock { $0 = true }
                            throw error
                        }
                    }
                ]
            })
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            try await gate.arrived()
            #expect(call.state == .waiting && call.attempts == 0)
            call.cancel(reason: "Enough.")
            #expect(await serviceError { _ = try await call.value }?.call.key == "item(id:)")
            try await until { ended.withLock { $0 } && client.calls.isEmpty }
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `the reason reaches closures once, and cancelling twice is one failure`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        let log = Log()
        try await watched {
            let call = client.start { try await $0.item(id: 1) }.onCompletion(on: .taskPool) { log.add($0) }
            try await gate.arrived()
            #expect(call.cancel(reason: "First."))
            #expect(!call.cancel(reason: "Second."))
            try await until { !log.all.isEmpty }
            gate.open()
            try await until { client.calls.isEmpty }
            call.onCompletion(on: .taskPool) { log.add($0) }
            try await until { log.all.count == 2 }
        }
        #expect(log.all == ["First.", "First."])
    }

    @Test func `a silent cancellation calls no closure, but ends readers`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        let log = Log()
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
                .onCompletion(on: .taskPool) { log.add($0) }
                .onDownloadProgress(on: .taskPool) { _ in log.add("progress") }
            try await gate.arrived()
            call.cancel(reason: "Enough.", silently: true)
            call.onCompletion(on: .taskPool) { log.add($0) }
            #expect(await serviceError { _ = try await call.value }?.kind == .cancelled)
            try await until { client.calls.isEmpty }
            // A restarted call calls them again.
            gate.open()
            call.restart()
            #expect(try await call.value.name == "one")
            try await until { log.all.count == 2 }
        }
        #expect(log.all == ["one", "one"])
    }

    @Test func `the client cancels started calls too`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            try await gate.arrived()
            #expect(client.cancelAll(reason: "Signed out.") == 1)
            let error = await serviceError { _ = try await call.value }
            #expect((error?.cause as? CallCancelled)?.reason == "Signed out.")
            #expect(call.state == .cancelled)
        }
    }

    // MARK: Restart

    @Test func `a finished call restarts, and its closures are called again`() async throws {
        let (client, stub) = Store.stubbed(.inTurn(.json(#"{"id": 1, "name": "one"}"#), .json(#"{"id": 1, "name": "two"}"#)))
        let log = Log()
        try await watched {
            let call = client.start { try await $0.item(id: 1) }.onCompletion(on: .taskPool) { log.add($0) }
            #expect(try await call.value.name == "one")
            try await until { log.all == ["one"] }
            call.restart()
            #expect(try await call.value.name == "two")
            #expect(call.attempts == 2 && call.state == .finished)
            try await until { log.all == ["one", "two"] }
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `a restarted call has the attributes and the trace of its start`() async throws {
        let (client, stub) = Store.stubbed(.json(#"{"id": 1, "name": "one"}"#)) { $0.tracing = .service }
        let trace = TracePropagation(trace: .random())
        let call = await TracePropagation.$current.withValue(trace) {
            await client.with(.idempotencyKey("order-7")) { client in client.start { try await $0.http.post("/orders").send() } }
        }
        try await watched {
            _ = try await call.value
            call.restart()
            _ = try await call.value
            // Nor has it those of the task that restarts it.
            await client.with(.idempotencyKey("other")) { _ in
                TracePropagation.$current.withValue(nil) { call.restart() }
            }
            _ = try await call.value
        }
        let sent = stub.requests.map(\.request.headers)
        #expect(sent.map { $0["Idempotency-Key"] } == ["order-7", "order-7", "order-7"])
        let traces = sent.compactMap { $0["traceparent"].flatMap { TraceContext(traceparent: $0) } }
        #expect(traces.count == 3 && Set(traces.map(\.traceID)) == [trace.trace?.traceID])
    }

    @Test func `a running call restarts: readers get the new result, the old one's end is ignored`() async throws {
        let (old, new) = (Gate(), Gate())
        let answers = Locked([old.then(#"{"id": 1, "name": "old"}"#), new.then(#"{"id": 1, "name": "new"}"#)][...])
        // The first attempt ignores the cancellation of its task, and ends late.
        let (client, _) = Store.stubbed()
        let log = Log()
        try await watched {
            let call = client.start { _ in
                let answer = answers.withLock { $0.popFirst() }
                return try await Task { () -> StoreItem in
                    let stub = StubTransport()
                    if let answer { stub.fallback(answer) }
                    return try await Store(serviceRoot: "https://api.test") { $0.transport = stub }.item(id: 1)
                }.value
            }.onCompletion(on: .taskPool) { log.add($0) }
            async let value = call.value
            try await old.arrived()
            call.restart()
            try await new.arrived()
            old.open()
            #expect(call.resultSoFar == nil)
            new.open()
            #expect(try await value.name == "new")
            try await until { !log.all.isEmpty }
        }
        #expect(log.all == ["new"])
    }

    @Test func `a call that waits to be repeated restarts at once, and ends at once when it is cancelled`() async throws {
        let clock = HandClock()
        let (client, stub) = clock.provide {
            Store.stubbed(.status(503)) {
                $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(60), cap: .seconds(60), jitter: .none))
            }
        }
        let log = Log()
        try await watched {
            let call = client.start { try await $0.item(id: 1) }.onCompletion(on: .taskPool) { log.add($0) }
            try await until { stub.requests.count == 1 && clock.timerCount == 1 }
            #expect(call.state == .running && call.attempts == 1)
            call.restart()
            try await until { stub.requests.count == 2 && clock.timerCount == 1 && client.calls.count == 1 }
            #expect(call.cancel(reason: "Enough."))
            #expect(await serviceError { _ = try await call.value }?.kind == .cancelled)
            try await until { clock.timerCount == 0 && client.calls.isEmpty && log.all == ["Enough."] }
            clock.advance(by: .seconds(3_600))
            #expect(stub.requests.count == 2)
            stub.fallback(.json(self.item))
            call.restart()
            #expect(try await call.value.name == "one")
            #expect(call.attempts == 3)
            try await until { log.all.count == 2 }
        }
        #expect(log.all == ["Enough.", "one"] && client.runtime.retryAccounts.account(for: client.state.place).balance == 0)
    }

    @Test func `a storm of restarts and cancellations ends once`() async throws {
        let (client, _) = Store.stubbed(.json(item))
        let log = Log()
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { if number % 3 == 0 { call.cancel(reason: "Enough.") } else { call.restart() } }
                }
            }
            call.restart()
            call.onCompletion(on: .taskPool) { log.add($0) }
            #expect(try await call.value.name == "one")
            try await until { log.all == ["one"] && client.calls.isEmpty }
        }
    }

    // MARK: Progress

    @Test func `upload and download of a real call are told, completion last`() async throws {
        let server = try LoopbackServer { routes in
            routes.on("POST", "/copy") { (request: LoopbackRequest) in .data(request.body) }
        }
        defer { server.stop() }
        let client = Store(serviceRoot: server.url.absoluteString)
        let log = Log()
        let data = Data(repeating: 0x41, count: 3_000_000)
        try await watched {
            let call = client.http.post("/copy").body(data).start(Data.self)
            async let downloads = call.downloadProgress.reduce(into: [TransferProgress]()) { $0.append($1) }
            call.onUploadProgress(on: .queue(DispatchQueue(label: "test"))) { progress in
                if progress.fraction == 1 { log.add("sent") }
            }
            call.onCompletion(on: .queue(DispatchQueue(label: "test"))) { result in
                log.add((try? result.get().count).map(String.init) ?? "failed")
            }
            #expect(try await call.value == data)
            try await until { log.all.count == 2 }
            let received = await downloads
            #expect(received.last == TransferProgress(completed: 3_000_000, total: 3_000_000))
            #expect(zip(received, received.dropFirst()).allSatisfy { $0.completed <= $1.completed })
            // A sequence of a finished call has its end.
            #expect(await call.downloadProgress.reduce(0) { max($0, $1.completed) } == 3_000_000)
        }
        #expect(log.all == ["sent", "3000000"])
    }

    // MARK: Closures

    private actor Collector {
        private(set) var names: [String] = []
        func add(_ name: String) { names.append(name) }
    }

    @MainActor private final class Label {
        var text = ""
    }

    @Test func `closures run on a queue, on an actor and on the main actor`() async throws {
        let (client, _) = Store.stubbed(.json(item))
        let collector = Collector()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        let onQueue = Locked(false)
        let label = await MainActor.run { Label() }
        try await watched {
            let call = client.start { try await $0.item(id: 1) }
            call.onCompletion(on: .queue(queue)) { _ in onQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) == true } }
            call.onCompletion(on: .actor(collector)) { result in
                collector.assumeIsolated { $0.add((try? result.get().name) ?? "") }
            }
            call.onCompletion { result in label.text = (try? result.get().name) ?? "" }
            try await until { onQueue.withLock { $0 } }
            while await collector.names != ["one"] { await Task.yield() }
            while await label.text != "one" { await Task.yield() }
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), let transport = DefaultTransport.shared as? CurlTransport {
                let isThere = Locked(false)
                call.onCompletion(on: .executor(transport.taskExecutor)) { _ in
                    isThere.withLock { $0 = TransportThread.isCurrent }
                }
                try await until { isThere.withLock { $0 } }
            }
        }
    }

    @Test func `diagnostics come on a queue in order, also those that wait at the end`() async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        let log = Log()
        var diagnostics: Diagnostics? = Diagnostics(on: .queue(queue)) { event in
            log.add(DispatchQueue.getSpecific(key: key) == true ? event.message : "elsewhere")
        }
        let expected = (0..<100).map { "\($0)" }
        queue.suspend()
        for message in expected { diagnostics?.report(.init(.debug, message)) }
        diagnostics = nil
        queue.resume()
        try await watched { try await until { log.all.count == expected.count } }
        #expect(log.all == expected)
    }

    // MARK: Waiting

    @Test func `a thread waits for the value, the error or the timeout`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        let call = client.start { try await $0.item(id: 1) }
        for timeout in [Duration.milliseconds(1), .zero, .seconds(-1)] {
            await #expect(throws: CallWaitError(reason: .timedOut)) { try await onOwnThread { try call.wait(timeout: timeout) } }
        }
        async let waited = onOwnThread { try call.wait() }
        gate.open()
        #expect(try await waited.name == "one")
        #expect(try await onOwnThread { try call.wait(timeout: .seconds(1 << 62)) }.name == "one")
        client.cancelAll(reason: "None.")
        let failed = client.http.get("/a").start(Int.self)
        let error = await serviceError { _ = try await onOwnThread { try failed.wait() } }
        #expect(error?.kind == .decoding)
    }

    @Test func `a thread waits for an upload of parts, and every thread gets the one result`() async throws {
        let (client, stub) = Store.stubbed(.json(item))
        let call = client.http.post("/items").body(MultipartForm([.text("name", "one"), .text("id", "1")])).start(StoreItem.self)
        let names = try await watched {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<4 { group.addTask { try await onOwnThread { try call.wait() }.name } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(names == ["one", "one", "one", "one"] && stub.requests.count == 1)
        #expect(call.state == .finished && call.response?.status == 200 && client.calls.isEmpty)
    }

    @Test func `waiting within a task or on a transport's thread is an error in place of a dead lock`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(item))
        let call = client.start { try await $0.item(id: 1) }
        #expect(throws: CallWaitError(reason: .isTask)) { try call.wait() }
        let onMain = await MainActor.run { () -> CallWaitError? in
            do { _ = try call.wait() } catch { return error as? CallWaitError }
            return nil
        }
        #expect(onMain == CallWaitError(reason: .isTask))
        #expect("\(CallWaitError(reason: .isTask))".contains("try await call.value"))

        let server = try LoopbackServer { routes in routes.fallback { (_: LoopbackRequest) in .generated(count: 10) } }
        defer { server.stop() }
        for transport in [DefaultTransport.shared, URLSessionTransport.shared] as [any Transport] {
            let seen = Locked<CallWaitError?>(nil)
            let real = Store(serviceRoot: server.url.absoluteString) { $0.transport = transport }
            _ = try await watched {
                try await real.http.post("/a").body(Data(repeating: 0x20, count: 1_000)).prepare { request in
                    request.uploadProgress = { _ in
                        do { _ = try call.wait(timeout: .seconds(60)) } catch { seen.withLock { $0 = error as? CallWaitError } }
                    }
                }.value(Data.self)
            }
            #expect(seen.withLock { $0 } == CallWaitError(reason: .isTransportThread))
        }
        gate.open()
        _ = try await call.value
    }
}
