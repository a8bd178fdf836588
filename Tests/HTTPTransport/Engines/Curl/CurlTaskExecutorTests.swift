#if os(Linux)
import CSystemLibraries
import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here."))
struct CurlTaskExecutorTests {
    private func transport() throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        return try CurlTransport(configuration: configuration)
    }

    /// The name of the thread that this is called on.
    private static func thread() -> String {
        (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))?.trimmingCharacters(in: .newlines) ?? ""
    }

    @Test func `a task stays on the transport's thread, before its calls and behind them`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try transport()
        let threads = try await watched {
            try await withTaskExecutorPreference(transport.taskExecutor) {
                var threads = [Self.thread()]
                for _ in 0..<3 {
                    let response = try await transport.send(ServiceRequest(url: server.url))
                    threads.append(Self.thread())
                    #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
                    threads.append(Self.thread())
                    try await Task.sleep(for: .microseconds(10))
                    threads.append(Self.thread())
                    await Task.yield()
                    threads.append(Self.thread())
                }
                return threads
            }
        }
        #expect(Set(threads) == ["curl-transport"])
        #expect(Self.thread() != "curl-transport")
    }

    @Test func `its child tasks share the thread, and their calls go on beside each other`() async throws {
        let (arrived, all) = (Locked(0), 12)
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in
                // The server answers only after all requests have arrived.
                arrived.withLock { $0 += 1 }
                while arrived.withLock({ $0 }) < all { try await Task.sleep(for: .milliseconds(1)) }
                return .text("hello")
            }
        }
        let transport = try transport()
        let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil, idle: nil))
        let answers = try await watched {
            try await withTaskExecutorPreference(transport.taskExecutor) {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<all {
                        group.addTask {
                            let data = try await transport.send(request).body.collect(upTo: 100)
                            return "\(data.count) on \(Self.thread())"
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
        }
        #expect(answers == Array(repeating: "5 on curl-transport", count: all))
    }

    @Test func `a deadline passes while the task sleeps there, and a cancel ends its call`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in
                try await Task.sleep(for: .seconds(600))
                return .text("late")
            }
        }
        let transport = try transport()
        var request = ServiceRequest(url: server.url)
        request.timeouts.firstByte = .milliseconds(20)
        let (hurried, patient) = (request, ServiceRequest(url: server.url))
        try await watched {
            await withTaskExecutorPreference(transport.taskExecutor) {
                let error = await #expect(throws: TransportError.self) { try await transport.send(hurried) }
                #expect(error?.code == .timedOutWaiting)
                await withThrowingTaskGroup(of: Int.self) { group in
                    group.addTask { try await transport.send(patient).status }
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(5))
                        return 0
                    }
                    let first = try? await group.next()
                    #expect(first == 0)
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
            }
        }
    }

    @Test func `its own thread may let go of the transport, and is told of its own faults`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let request = ServiceRequest(url: server.url)
        let blocked = try await watched {
            let executor: any TaskExecutor
            let kept: Locked<CurlTransport?>
            do {
                let transport = try transport()
                (executor, kept) = (transport.taskExecutor, Locked(transport))
            }
            return try await withTaskExecutorPreference(executor) {
                let status = try await kept.withLock { $0 }?.send(request).status
                #expect(status == 200)
                kept.withLock { $0 = nil }
                var mask = sigset_t()
                pthread_sigmask(SIG_SETMASK, nil, &mask)
                let blocked = [SIGTERM, SIGPIPE, SIGSEGV, SIGILL].map { sigismember(&mask, $0) == 1 }
                while Self.thread() == "curl-transport" { try await Task.sleep(for: .milliseconds(1)) }
                return blocked
            }
        }
        #expect(blocked == [true, true, false, false])
    }

    @Test func `tasks outlive the transport, on other threads`() async throws {
        for isUsed in [false, true] {
            let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
            var transport: CurlTransport? = try transport()
            let executor = try #require(transport).taskExecutor
            if isUsed {
                let response = try await #require(transport).send(ServiceRequest(url: server.url))
                _ = try await response.body.collect(upTo: 100)
            }
            let request = ServiceRequest(url: server.url)
            transport?.invalidate()
            let refused = transport
            transport = nil
            try await watched {
                await withTaskExecutorPreference(executor) {
                    await #expect(throws: TransportError.self) { try await refused?.send(request) }
                    while Self.thread() == "curl-transport" { try? await Task.sleep(for: .milliseconds(1)) }
                }
            }
        }
    }
}
#endif
