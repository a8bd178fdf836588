import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// How origins share the transport's slots: some that don't answer keep no other one waiting.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlFairnessTests {
    struct Crowd: Sendable {
        let silent: Int
        let calls: Int
        var most: Int?
        var limitPerOrigin: Int?
    }

    private static func transport(_ change: (inout CurlTransport.Configuration) -> Void) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    @Test(
        .atOnce(2),
        arguments: [
            Crowd(silent: 2, calls: 150), Crowd(silent: 10, calls: 40), Crowd(silent: 1, calls: 300),
            Crowd(silent: 2, calls: 20, most: 8), Crowd(silent: 3, calls: 20, most: 16), Crowd(silent: 2, calls: 9, most: 4),
            Crowd(silent: 1, calls: 9, most: 2), Crowd(silent: 10, calls: 40, most: 64),
            Crowd(silent: 5, calls: 40, most: 64, limitPerOrigin: 40), Crowd(silent: 2, calls: 20, most: 10, limitPerOrigin: 5),
        ])
    func `origins that do not answer leave slots for another one`(crowd: Crowd) async throws {
        let silent = try (0..<crowd.silent).map { _ in try LoopbackServer { $0.get("/") { _ in .hang } } }
        let fine = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try Self.transport {
            if let most = crowd.most { $0.maximumConcurrentExchanges = most }
            if let most = crowd.limitPerOrigin { $0.maximumConcurrentExchangesPerOrigin = most }
        }
        let tasks = silent.flatMap { server in
            (0..<crowd.calls).map { _ in
                Task { try await transport.send(ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))) }
            }
        }
        // By then they have taken what they get: at least one of each has gone out.
        for server in silent { _ = try await server.waitForRequests(count: 1, within: .seconds(300)) }
        try await Task.sleep(for: .milliseconds(50))
        let plain = ServiceRequest(url: fine.url, timeouts: ServiceTimeouts(firstByte: nil))
        try await watched {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 { group.addTask { try await transport.send(plain).status } }
                for try await status in group { #expect(status == 200) }
            }
        }
        let most = crowd.most ?? 256
        #expect(silent.map(\.requests.count).reduce(0, +) < most)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }

    @Test func `an origin by itself gets as many slots as it may have`() async throws {
        for (most, limitPerOrigin, expected) in [(256, nil, 128), (8, nil, 4), (8, 8, 8), (8, 100, 8), (9, 2, 2), (1, nil, 1), (3, nil, 2)]
            as [(Int, Int?, Int)]
        {
            let server = try LoopbackServer { $0.get("/") { _ in .hang } }
            let transport = try Self.transport {
                $0.maximumConcurrentExchanges = most
                if let limitPerOrigin { $0.maximumConcurrentExchangesPerOrigin = limitPerOrigin }
            }
            let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))
            let tasks = (0..<expected + 20).map { _ in Task { try await transport.send(request) } }
            _ = try await server.waitForRequests(count: expected, within: .seconds(300))
            try await Task.sleep(for: .milliseconds(50))
            #expect(server.requests.count == expected, "\(most), \(limitPerOrigin ?? 0)")
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        }
    }

    @Test(arguments: [1, 3, 50]) func `no more wait than may, and each that may not is told so`(most: Int) async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .hang } }
        let other = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try Self.transport {
            $0.maximumConcurrentExchangesPerOrigin = 2
            $0.maximumWaitingExchangesPerOrigin = most
        }
        let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))
        let started = (0..<2).map { _ in Task { try await transport.send(request) } }
        _ = try await server.waitForRequests(count: 2, within: .seconds(300))
        let failures = Locked<[TransportError]>([])
        let waiting = (0..<most + 40).map { _ in
            Task {
                do {
                    _ = try await transport.send(request)
                } catch let error as TransportError {
                    failures.withLock { $0.append(error) }
                }
            }
        }
        try await watched {
            while failures.withLock({ $0.count }) < 40 { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(failures.withLock { $0.count } == 40)
        let texts = failures.withLock { $0 }
        #expect(texts.allSatisfy { $0.code == .tooManyWaiting && $0.message.contains("maximumWaitingExchangesPerOrigin") })
        #expect(texts.allSatisfy { $0.message.contains("\(most) others") && $0.message.contains("127.0.0.1") })
        // The bound is each origin's own.
        let plain = ServiceRequest(url: other.url)
        #expect(try await watched { try await transport.send(plain) }.status == 200)
        // Cancelled calls free their slots.
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        let next = Task { try await transport.send(request) }
        try await Task.sleep(for: .milliseconds(20))
        started[0].cancel()
        _ = try await server.waitForRequests(count: 3, within: .seconds(300))
        for task in started + [next] { task.cancel() }
        for task in started + [next] { _ = await task.result }
    }

    @Test func `calls that begin at once don't count as waiting`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try Self.transport { $0.maximumWaitingExchangesPerOrigin = 1 }
        let request = ServiceRequest(url: server.url)
        try await watched {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await transport.send(request).status } }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test(arguments: [
        (ServiceTimeouts(firstByte: nil, connect: .milliseconds(50)), TransportError.Code.timedOutConnecting, "timeouts.connect"),
        (ServiceTimeouts(firstByte: .milliseconds(50)), .timedOutWaiting, "timeouts.firstByte"),
        (ServiceTimeouts(firstByte: nil, total: .milliseconds(50)), .timedOutTotal, "timeouts.total"),
    ])
    func `a deadline that passes in the queue is told as that`(
        timeouts: ServiceTimeouts, code: TransportError.Code, setting: String
    ) async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .hang } }
        let transport = try Self.transport { $0.maximumConcurrentExchangesPerOrigin = 1 }
        try #require(transport.capabilities.contains(.connectDeadlines))
        let hanging = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))
        let first = Task { try await transport.send(hanging) }
        _ = try await server.waitForRequests(count: 1, within: .seconds(300))
        let request = ServiceRequest(url: server.url, timeouts: timeouts)
        let error = try await watched { await #expect(throws: TransportError.self) { try await transport.send(request) } }
        #expect(error?.code == code)
        for part in ["was not sent", "waited for a free slot", setting, "0.05 s"] {
            #expect(error?.message.contains(part) == true, "\(part): \(error?.message ?? "")")
        }
        #expect(error?.message.contains("is it reachable") == false && error?.message.contains("is the service up") == false)
        first.cancel()
        _ = await first.result
    }

    @Test func `a deadline that passes while all connections to a host are in use is told as that`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .hang } }
        let transport = try Self.transport { $0.maximumConnectionsPerHost = 1 }
        try #require(transport.capabilities.contains(.connectDeadlines))
        let hanging = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: nil))
        let first = Task { try await transport.send(hanging) }
        _ = try await server.waitForRequests(count: 1, within: .seconds(300))
        let request = ServiceRequest(url: server.url, timeouts: ServiceTimeouts(firstByte: .milliseconds(100)))
        let error = try await watched { await #expect(throws: TransportError.self) { try await transport.send(request) } }
        #expect(error?.code == .timedOutWaiting && error?.message.contains("maximumConnectionsPerHost") == true, "\(error?.message ?? "")")
        first.cancel()
        _ = await first.result
    }
}
