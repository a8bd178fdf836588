import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// The number of exchanges under way at a time, and the queued ones.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlAdmissionTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    @Test func `no more than the limit are under way, and all are started`() async throws {
        let running = Locked((now: 0, most: 0))
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                try await Task.sleep(for: .milliseconds(2))
                running.withLock { $0.now -= 1 }
                return .text("hello")
            }
        }
        let transport = try transport { $0.maximumConcurrentExchanges = 3 }
        // A busy machine may let this test wait for longer than the default deadlines.
        let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil, idle: nil))
        try await watched {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await transport.send(request).status } }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(running.withLock { $0.most } <= 3)
    }

    @Test func `an origin that does not answer keeps the others from nothing`() async throws {
        let silent = try LoopbackServer { $0.get("/") { _ in .hang } }
        let fine = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try transport { $0.maximumConcurrentExchangesPerOrigin = 2 }
        // A busy machine may let this test wait for longer than the minute that there is by default.
        let hanging = ServiceRequest(url: silent.url, timeouts: ServiceTimeouts(firstByte: nil))
        let plain = ServiceRequest(url: fine.url, timeouts: ServiceTimeouts(firstByte: nil))
        let tasks = (0..<10).map { _ in Task { try await transport.send(hanging) } }
        _ = try await silent.waitForRequests(count: 2, within: .seconds(300))
        for _ in 0..<3 {
            #expect(try await watched { try await transport.send(plain) }.status == 200)
        }
        #expect(silent.requests.count == 2)
        for task in tasks { task.cancel() }
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: [(ServiceTimeouts(firstByte: .milliseconds(100)), TransportError.Code.timedOutWaiting), (.total, .timedOutTotal)])
    func `a deadline passes while an exchange is queued`(timeouts: ServiceTimeouts, code: TransportError.Code) async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .hang } }
        let transport = try transport { $0.maximumConcurrentExchangesPerOrigin = 1 }
        let first = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))
        let waiting = ServiceRequest(url: server.url, timeouts: timeouts)
        let task = Task { try await transport.send(first) }
        _ = try await server.waitForRequests(count: 1, within: .seconds(300))
        let error = try await watched { await #expect(throws: TransportError.self) { try await transport.send(waiting) } }
        #expect(error?.code == code && error?.message.contains("maximumConcurrentExchangesPerOrigin") == true)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1, "what waits isn't sent")
    }

    @Test func `a time that was over before is told as that, and not as a wait behind others`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("late") } }
        let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(total: .zero))
        let transport = try transport { _ in }
        let error = await #expect(throws: TransportError.self) { try await watched { try await transport.send(request) } }
        #expect(error?.code == .timedOutTotal && error?.message.contains("after other calls") == false, "\(String(describing: error))")
    }

    @Test func `a body is opened when its exchange starts`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in .hang }
            routes.on("POST", "/") { .text("\($0.body.count)") }
        }
        let transport = try transport { $0.maximumConcurrentExchangesPerOrigin = 1 }
        let hanging = ServiceRequest(url: server.url)
        let first = Task { try await transport.send(hanging) }
        _ = try await server.waitForRequests(count: 1, within: .seconds(300))
        let isOpened = Locked(false)
        let body = RequestBody {
            isOpened.withLock { $0 = true }
            return RequestBody(Data(count: 10)).chunks()
        }
        let upload = ServiceRequest(method: .post, url: server.url, body: body)
        let second = Task { try await transport.send(upload) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(!isOpened.withLock { $0 })
        first.cancel()
        let answer = try await watched { try await second.value.body.collect(upTo: 10) }
        #expect(String(decoding: answer, as: UTF8.self) == "10" && isOpened.withLock { $0 })
        // An exchange that is cancelled in the queue opens nothing.
        isOpened.withLock { $0 = false }
        let third = Task { try await transport.send(hanging) }
        _ = try await server.waitForRequests(count: 3, within: .seconds(300))
        let fourth = Task { try await transport.send(upload) }
        try await Task.sleep(for: .milliseconds(50))
        fourth.cancel()
        await #expect(throws: CancellationError.self) { try await fourth.value }
        third.cancel()
        _ = await third.result
        let other = ServiceRequest(method: .post, url: server.url, body: RequestBody(Data(count: 100_000)))
        #expect(try await watched { try await transport.send(other) }.status == 200)
        #expect(!isOpened.withLock { $0 })
    }

    @Test(arguments: [1, 0])
    func `a body that is still arriving holds up no queued exchange, whatever the limit`(bound: Int) async throws {
        let server = try LoopbackServer { routes in
            routes.get("/open") { _ in .drip(Data(count: 1), every: .seconds(600)).delayed(by: .milliseconds(200)) }
            routes.get("/") { _ in .text("hello") }
        }
        let transport = try transport { $0.maximumConcurrentExchanges = bound }
        let (open, plain) = (ServiceRequest(url: try server.url("/open")), ServiceRequest(url: server.url))
        async let opening = transport.send(open)
        _ = try await server.waitForRequests(count: 1, within: .seconds(300))
        // It is queued when the other's head arrives, and then no other event could wake the loop.
        let answer = try await watched { try await transport.send(plain) }
        #expect(answer.status == 200)
        try await opening.body.cancel()
    }
}

extension ServiceTimeouts {
    /// The whole time is short, nothing else is.
    fileprivate static let total = ServiceTimeouts(firstByte: nil, total: .milliseconds(100))
}
