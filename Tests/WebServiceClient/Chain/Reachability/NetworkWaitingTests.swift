import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct NetworkWaitingTests {
    private static let failure = TransportError(.cannotConnect, "No route.")

    /// Sends requests to a service that is unreachable while the networks are down.
    private struct Rig: Sendable {
        let networks = HandNetworks(.noRoute)
        let transport: HeldTransport
        let reachability: Reachability
        let client: WebServiceClient
        let records = Locked<[CallRecord]>([])

        init(
            _ time: Simulation, failing: Locked<Bool> = Locked(false), code: TransportError.Code = .cannotConnect,
            configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
        ) {
            let (networks, records) = (networks, records)
            let transport = HeldTransport(answersAtOnce: true) { request in
                if failing.withLock({ $0 }) { throw TransportError(code, "Failed.") }
                return TransportResponse(status: 200, url: request.url)
            }
            self.transport = transport
            let reachability = time.client { Reachability(source: networks.source) }
            self.reachability = reachability
            client = time.client {
                WebServiceClient(serviceRoot: "https://shop.example.com") {
                    $0.transport = transport
                    $0.reachability = reachability
                    $0.attributes[WaitingForNetwork.self] = WaitingForNetwork(upTo: .seconds(100))
                    $0.interceptors = [Noting(records: records)]
                    configure(&$0)
                }
            }
        }

        var waits: [CallRecord.Wait] { records.withLock { $0.flatMap(\.waits) } }
    }

    private struct Noting: Interceptor {
        let records: Locked<[CallRecord]>

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            records.withLock { $0.append(context.record) }
            return try await next(request, context)
        }
    }

    @Test func `a call waits until the network is back, and then a random part of two seconds`() throws {
        try simulated { time in
            let rig = Rig(time)
            let call = time.start { try await rig.client.http.get("/a").send() }
            try await time.pass(.seconds(10))
            #expect(rig.transport.sent.isEmpty && rig.client.runtime.networkWaits.count == 1 && rig.client.queue.activeCount == 0)
            rig.networks.report(.defaultRoute)
            try await call.value
            #expect(rig.transport.sent == ["/a"])
            #expect(time.elapsed() >= .milliseconds(10_500) && time.elapsed() <= .milliseconds(12_501))
            #expect(rig.client.runtime.networkWaits.count == 0)
            let wait = try #require(rig.waits.first)
            #expect(rig.waits.count == 1 && wait.reason == .network && wait.attempt == 1 && wait.cause.isEmpty)
        }
    }

    @Test func `while the network is there, or unknown, or for the loopback, nothing waits`() throws {
        try simulated { time in
            for evidence in [NetworkStatus.Evidence.defaultRoute, .nothing] {
                let rig = Rig(time)
                let observation = rig.reachability.observe {}
                rig.networks.report(evidence)
                try await rig.client.http.get("/a").send()
                withExtendedLifetime(observation) {}
            }
            let local = Rig(time) { $0.serviceRoot = "http://localhost:8080" }
            try await local.client.http.get("/a").send()
            let literal = Rig(time) { $0.serviceRoot = "http://192.168.1.5" }
            try await literal.client.http.get("/a").send()
            #expect(time.elapsed() == .zero)
            let off = Rig(time)
            _ = try await off.client.with(WaitingForNetwork.off) { try await $0.http.get("/a").send() }
            #expect(time.elapsed() == .zero && off.networks.starts == 0)
        }
    }

    @Test func `a failure that proves that nothing was sent waits, with any method, and is no attempt`() throws {
        try simulated { time in
            for code in [TransportError.Code.cannotConnect, .hostNotFound, .timedOutConnecting] {
                let isFailing = Locked(true)
                let rig = Rig(time, failing: isFailing, code: code) { $0.serviceRoot = "https://192.168.1.5" }
                let call = time.start { try await rig.client.http.post("/a").send() }
                try await time.pass(.seconds(5))
                #expect(rig.transport.sent.count == 1)
                isFailing.withLock { $0 = false }
                rig.networks.report(.defaultRoute)
                try await call.value
                #expect(rig.transport.sent.count == 2 && rig.waits.map(\.cause) == [code.rawValue])
                #expect(rig.records.withLock { $0.map(\.repeats) } == [0])
            }
        }
    }

    @Test(arguments: [TransportError.Code.connectionLost, .timedOutWaiting, .truncated, .proxyRefused, .unknownIssuer, .timedOutTotal])
    func `other failures are delivered at once`(code: TransportError.Code) throws {
        try simulated { time in
            let rig = Rig(time, failing: Locked(true), code: code) { $0.serviceRoot = "https://192.168.1.5" }
            let error = await serviceError { try await rig.client.http.get("/a").send() }
            #expect((error?.cause as? TransportError)?.code == code && time.elapsed() == .zero)
        }
    }

    @Test func `a failure while the network is there is delivered at once`() throws {
        try simulated { time in
            let rig = Rig(time, failing: Locked(true))
            let observation = rig.reachability.observe {}
            rig.networks.report(.defaultRoute)
            #expect(await serviceError { try await rig.client.http.get("/a").send() } != nil)
            #expect(time.elapsed() == .zero && rig.transport.sent.count == 1)
            withExtendedLifetime(observation) {}
        }
    }

    @Test func `a body that can be read only once isn't sent again`() throws {
        try simulated { time in
            let rig = Rig(time, failing: Locked(true)) { $0.serviceRoot = "https://192.168.1.5" }
            let body = RequestBody(open: { AsyncThrowingStream { $0.finish() } })
            let error = await serviceError {
                try await rig.client.http.post("/a").prepare { $0.body = body }.send()
            }
            #expect(error != nil && time.elapsed() == .zero && rig.transport.sent.count == 1)
        }
    }

    @Test func `the system may be wrong, so a request is tried each half minute, and at the end`() throws {
        try simulated { time in
            let rig = Rig(time, failing: Locked(true))
            let error = await serviceError { try await rig.client.http.get("/a").send() }
            #expect((error?.cause as? TransportError)?.code == .cannotConnect)
            #expect(time.elapsed() >= .seconds(100) && time.elapsed() < .milliseconds(100_001))
            #expect((4...5).contains(rig.transport.sent.count))
            // If the service answers although the system states that there is no network, nothing waits any more.
            let answering = Rig(time)
            try await answering.client.http.get("/a").send()
            let after = time.elapsed()
            #expect(after >= .seconds(130))
            try await answering.client.http.get("/b").send()
            #expect(time.elapsed() == after)
        }
    }

    @Test func `a wait ends with the call's deadline`() throws {
        try simulated { time in
            let rig = Rig(time) { $0.interceptors = [] }
            let error = await serviceError {
                try await rig.client.http.get("/a").describing { $0.timeout(.seconds(7)) }.send()
            }
            #expect(error?.kind == .timeout && time.elapsed() == .seconds(7) && rig.transport.sent.isEmpty)
            #expect(error?.description.contains("waited 7 s for the network (offline: no default route)") == true)
        }
    }

    @Test func `a wait ends when its call, its task or all calls are cancelled`() throws {
        try simulated { time in
            let rig = Rig(time)
            let cancelled = Locked<[String]>([])
            func start(_ path: String) -> Task<Void, any Error> {
                time.start {
                    do {
                        try await rig.client.http.get(path).send()
                    } catch is CancellationError {
                        cancelled.withLock { $0.append("task") }
                    } catch let error as ServiceError {
                        cancelled.withLock { $0.append((error.cause as? CallCancelled)?.reason ?? "\(error)") }
                    }
                }
            }
            var task = start("/a")
            try await time.settle()
            rig.client.calls.first?.cancel(reason: "One.")
            try await task.value
            task = start("/b")
            try await time.settle()
            rig.client.cancelAll(reason: "All.")
            try await task.value
            task = start("/c")
            try await time.settle()
            task.cancel()
            try await task.value
            let causes = cancelled.withLock { $0 }
            #expect(causes == ["One.", "All.", "task"])
            #expect(rig.transport.sent.isEmpty && time.elapsed() < .seconds(4))
        }
    }

    @Test func `a wait ends when its client is shut down`() async throws {
        let (clock, networks, transport) = (HandClock(), HandNetworks(.noRoute), HeldTransport(answersAtOnce: true))
        let client = clock.provide {
            WebServiceClient(serviceRoot: "https://shop.example.com") {
                $0.transport = transport
                $0.reachability = Reachability(source: networks.source)
                $0.attributes[WaitingForNetwork.self] = .waitingForNetwork(upTo: .seconds(100))
            }
        }
        let call = Task { try await client.http.get("/a").send() }
        try await until { client.runtime.networkWaits.count == 1 }
        let report = await client.shutdown(within: .zero)
        #expect(report.cancelled.count == 1)
        let error = await serviceError { _ = try await call.value }
        #expect((error?.cause as? CallCancelled)?.origin == .shutdown && transport.sent.isEmpty)
        // A client that is released ends its waits, too, also those that begin later.
        let waits = NetworkWaits()
        let (early, late) = (CallWaiter(), CallWaiter())
        _ = waits.begin(early)
        waits.close(with: CallCancelled(.shutdown, reason: "The client was released."))
        _ = waits.begin(late)
        for waiter in [early, late] {
            await #expect(throws: CallCancelled.self) { try await waiter.wait(unless: CallCancellation()) }
        }
        #expect(waits.count == 0)
    }

    @Test func `a thousand waiting calls don't start at once`() throws {
        try simulated { time in
            let starts = Locked<[Duration]>([])
            let rig = Rig(time) {
                $0.interceptors.append(.perAttempt(ResponseProcessor { _ in starts.withLock { $0.append(time.elapsed()) } }))
            }
            let calls = (0..<1_000).map { number in time.start { try await rig.client.http.get("/\(number)").send() } }
            try await time.pass(.seconds(1))
            rig.networks.report(.defaultRoute)
            for call in calls { try await call.value }
            let times = starts.withLock { $0 }.map { ($0 - .milliseconds(1_500)) / .seconds(1) }
            #expect(times.count == 1_000)
            for part in 0..<10 {
                let count = times.count { Int($0 * 5) == part }
                #expect((50...160).contains(count), "\(count) in the \(part). fifth of a second")
            }
        }
    }

    @Test func `the networks are observed from the first call that may wait until the client's end`() async throws {
        let networks = HandNetworks(.defaultRoute)
        do {
            let client = WebServiceClient(serviceRoot: "https://shop.example.com") {
                $0.transport = HeldTransport(answersAtOnce: true)
                $0.reachability = Reachability(source: networks.source)
            }
            try await client.http.get("/a").send()
            #expect(networks.starts == 0)
            try await client.http.get("/a").describing { $0.waitingForNetwork(upTo: .seconds(1)) }.send()
            try await client.http.get("/a").describing { $0.waitingForNetwork(upTo: .seconds(1)) }.send()
            #expect(networks.starts == 1 && networks.stops == 0)
        }
        try await until { networks.stops == 1 }
    }

    @Test func `outcomes are noted with the client's reachability only`() async throws {
        let reachability = Reachability(source: HandNetworks().source)
        let status = Locked(200)
        let transport = HeldTransport(answersAtOnce: true) { request in
            if status.withLock({ $0 }) == 0 { throw Self.failure }
            return TransportResponse(status: status.withLock { $0 }, url: request.url)
        }
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") {
            $0.transport = transport
            $0.statuses = .any
        }
        let origin = try #require(client.serviceOrigin)
        try await client.http.get("/a").send()
        client.configure { $0.reachability = reachability }
        #expect(reachability.contact(with: origin) == nil)
        status.withLock { $0 = 511 }
        try await client.http.get("/a").send()
        #expect(reachability.contact(with: origin) == nil, "a captive portal isn't the service")
        status.withLock { $0 = 500 }
        try await client.http.get("/a").send()
        #expect(reachability.contact(with: origin)?.responded != nil)
        status.withLock { $0 = 0 }
        #expect(await serviceError { try await client.http.get("/a").send() } != nil)
        #expect(reachability.contact(with: origin)?.failure == .cannotConnect)
        _ = try await client.dryRun { try await $0.http.get("/a").send() }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `a wait of no time is a fault`(limit: Duration) {
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") {
            $0.attributes[WaitingForNetwork.self] = .waitingForNetwork(upTo: limit)
        }
        let faults = client.verify()
        #expect(faults.map(\.kind) == [.badLimit] && faults.first?.fix.contains(".waitingForNetwork(upTo:)") == true)
        client.configure { $0.attributes[WaitingForNetwork.self] = .off }
        #expect(client.verify().isEmpty)
        client.configure { $0.attributes[WaitingForNetwork.self] = .waitingForNetwork(upTo: .seconds(Int64.max)) }
        #expect(client.verify().isEmpty)
    }

    @Test func `an endless wait doesn't overflow`() throws {
        try simulated { time in
            let rig = Rig(time) { $0.attributes[WaitingForNetwork.self] = .waitingForNetwork(upTo: .seconds(Int64.max)) }
            let call = time.start { try await rig.client.http.get("/a").send() }
            try await call.value
            #expect(time.elapsed() >= .seconds(30))
        }
    }
}
