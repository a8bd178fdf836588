import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct RateLimitingTests {
    private final class Limited: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "search(_:)": .get("/search/%%0%%").rateLimited(RateLimit(2, per: .seconds(1))),
                "free(_:)": .get("/free/%%0%%"), "deaf(_:)": .get("/deaf/%%0%%").obeyingRateLimits(.ignored),
            ]
        }

        func search(_ id: Int) async throws { try await call(id) }
        func free(_ id: Int) async throws { try await call(id) }
        func deaf(_ id: Int) async throws { try await call(id) }
    }

    /// Notes when requests are sent, in milliseconds of the simulated time.
    private final class Times: Sendable {
        private let state = Locked<[Int]>([])
        var all: [Int] { state.withLock { $0 } }
        func add(_ time: Duration) { state.withLock { $0.append(Int((time / .milliseconds(1)).rounded())) } }
    }

    private static func client(
        _ time: Simulation, _ times: Times, headers: @escaping @Sendable (Int) -> (status: Int, HTTPFields) = { _ in (200, [:]) },
        _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> Limited {
        let transport = HeldTransport(answersAtOnce: true) { request in
            times.add(time.elapsed())
            let (status, fields) = headers(times.all.count)
            return TransportResponse(status: status, headers: fields, url: request.url)
        }
        return time.client {
            Limited(serviceRoot: "https://limited.test") {
                $0.transport = transport
                configure(&$0)
            }
        }
    }

    /// Makes calls at the same time, in order.
    private static func callAtOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            try await group.waitForAll()
        }
    }

    @Test func `An endpoint's calls start at its rate, other endpoints' at once`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times)
            try await Self.callAtOnce(5) { try await client.search($0) }
            #expect(times.all == [0, 500, 1_000, 1_500, 2_000])
            try await Self.callAtOnce(3) { try await client.free($0) }
            #expect(times.all.suffix(3) == [2_000, 2_000, 2_000])
        }
    }

    @Test func `A client's limit counts all of its calls, its endpoints' as well`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times, headers: { _ in (200, [:]) }) { $0.rateLimit = RateLimit(4, per: .seconds(1), burst: 2) }
            try await Self.callAtOnce(6) { try await client.free($0) }
            #expect(times.all == [0, 0, 250, 500, 750, 1_000])
            try await time.pass(.seconds(60))
            try await Self.callAtOnce(3) { try await client.search($0) }
            #expect(times.all.suffix(3) == [61_000, 61_500, 62_000])
            #expect(client.configuration.rateLimit == RateLimit(4, per: .seconds(1), burst: 2))
        }
    }

    @Test func `The limit of a method counts its calls by themselves, whatever the class allows the others`() throws {
        final class Shop: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults {
                var defaults = EndpointDefaults(serviceRoot: "https://shop.test").rateLimited(RateLimit(10, per: .seconds(1)))
                defaults.perMethod[.post] = EndpointDefaults().rateLimited(RateLimit(1, per: .seconds(1)))
                return defaults
            }
        }
        try simulated { time in
            let (reads, writes) = (Times(), Times())
            let transport = HeldTransport(answersAtOnce: true) { request in
                (request.method == .get ? reads : writes).add(time.elapsed())
                return TransportResponse(status: 200, headers: [:], url: request.url)
            }
            let shop = time.client { Shop { $0.transport = transport } }
            try await Self.callAtOnce(6) { number in
                if number.isMultiple(of: 2) { try await shop.http.get("/").send() } else { try await shop.http.post("/").send() }
            }
            #expect(reads.all == [0, 100, 200] && writes.all == [0, 1_000, 2_000], "\(reads.all) \(writes.all)")
        }
    }

    @Test func `A call that one limit refuses uses up no other`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times, headers: { _ in (200, [:]) }) {
                $0.rateLimit = RateLimit(1, per: .seconds(1), longestWait: .zero)
            }
            let rare = client.http.get("/rare").describing { $0.rateLimited(RateLimit(1, per: .seconds(100))) }
            try await client.free(1)
            for _ in 0..<3 { #expect(await serviceError { try await rare.send() }?.kind == .rateLimit) }
            try await time.pass(.seconds(1))
            try await rare.send()
            #expect(times.all == [0, 1_000])
        }
    }

    @Test func `No period has more calls than the count and the burst`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times, headers: { _ in (200, [:]) }) { $0.rateLimit = RateLimit(10, per: .seconds(1), burst: 5) }
            var generator = SeededGenerator(seed: 7)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { try await client.free(number) }
                    if Int.random(in: 0..<8, using: &generator) == 0 {
                        try await time.pass(.milliseconds(Int.random(in: 0...1_500, using: &generator)))
                    }
                }
                try await group.waitForAll()
            }
            let all = times.all
            #expect(all.count == 200)
            for start in all.indices {
                #expect(all[start...].prefix { $0 < all[start] + 1_000 }.count <= 15)
            }
        }
    }

    @Test func `A cancelled waiter leaves its token to the next one`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times)
            try await client.search(0)
            let tasks = (1...4).map { number in time.start { try await client.search(number) } }
            try await time.settle()
            tasks[0].cancel()
            tasks[2].cancel()
            for (index, task) in tasks.enumerated() {
                if index % 2 == 0 {
                    await #expect(throws: CancellationError.self) { try await task.value }
                } else {
                    try await task.value
                }
            }
            #expect(times.all == [0, 500, 1_000])
        }
    }

    @Test func `A wait that would be too long fails at once, and says how long`() throws {
        try simulated { time in
            let times = Times()
            let limit = RateLimit(1, per: .seconds(10), longestWait: .seconds(20))
            let client = Self.client(time, times, headers: { _ in (200, [:]) }) { $0.rateLimit = limit }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<2 { group.addTask { try await client.free(number) } }
                try await time.settle()
                // It would wait for 20 s, as long as the limit allows. Otherwise the limit's own error says when to call again.
                let late = await serviceError { try await client.http.get("/x").timeout(.seconds(4)).send() }
                #expect(late?.kind == .timeout && late?.message.contains("rate limit") == true)
                group.addTask { try await client.free(2) }
                try await time.settle()
                let error = await serviceError { try await client.free(3) }
                #expect(error?.kind == .rateLimit)
                let wait = (error?.cause as? RateLimitError)?.wait ?? .zero
                #expect(wait > .seconds(29) && wait <= .seconds(30))
                #expect(error?.message.contains("1 calls per 10 s") == true && error?.message.contains("longestWait") == true)
                #expect(time.elapsed() < .seconds(1))
                try await group.waitForAll()
            }
            #expect(times.all == [0, 10_000, 20_000])
        }
    }

    @Test func `Retry-After pauses the origin for the other calls too`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times, headers: { $0 == 1 ? (429, ["Retry-After": "7"]) : (200, [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
            }
            await #expect(throws: ServiceError.self) { try await client.free(0) }
            try await Self.callAtOnce(3) { try await client.free($0) }
            #expect(times.all == [0, 7_000, 7_000, 7_000])
        }
    }

    @Test func `A service that asks for too much is told to the caller at once`() throws {
        try simulated { time in
            let times = Times()
            let client = Self.client(time, times, headers: { $0 == 1 ? (503, ["Retry-After": "3600"]) : (200, [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits(longestWait: .seconds(30))
            }
            await #expect(throws: ServiceError.self) { try await client.free(0) }
            let error = await serviceError { try await client.free(1) }
            #expect(error?.kind == .rateLimit && (error?.cause as? RateLimitError)?.wait ?? .zero > .seconds(3_599))
            #expect(error?.message.contains("https://limited.test") == true)
            #expect(client.queue.pending.isEmpty && time.elapsed() < .seconds(1))
            try await time.pass(.seconds(3_600))
            try await client.free(2)
        }
    }

    @Test func `Without the setting, nothing that a service says delays a call`() throws {
        try simulated { time in
            let times = Times()
            let fields: HTTPFields = ["Retry-After": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60"]
            let client = Self.client(time, times, headers: { _ in (429, fields) })
            for number in 0..<3 { await #expect(throws: ServiceError.self) { try await client.free(number) } }
            #expect(times.all == [0, 0, 0])
            // An endpoint can differ from its client.
            client.configure { $0.attributes[ServiceRateLimits.self] = ServiceRateLimits() }
            await #expect(throws: ServiceError.self) { try await client.deaf(3) }
            await #expect(throws: ServiceError.self) { try await client.deaf(4) }
            #expect(times.all == [0, 0, 0, 0, 0])
        }
    }

    @Test func `Calls are paced by what remains, and stop when nothing does`() throws {
        try simulated { time in
            let times = Times()
            let answers: [HTTPFields] = [
                ["RateLimit": #""minute";r=10;t=10"#], [:], [:], ["RateLimit": #""minute";r=0;t=30"#],
            ]
            let client = Self.client(time, times, headers: { (200, $0 <= answers.count ? answers[$0 - 1] : [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
            }
            for number in 0..<6 { try await client.free(number) }
            // One token at the first answer, then one call a second; after the fourth, none for half a minute.
            #expect(times.all == [0, 0, 1_000, 2_000, 32_000, 32_000])
        }
    }

    @Test func `The smaller of remainder and policy counts`() throws {
        try simulated { time in
            let times = Times()
            let fields: HTTPFields = ["RateLimit-Policy": #""m";q=120;w=60"#, "RateLimit": #""m";r=10;t=1"#]
            let client = Self.client(time, times, headers: { (200, $0 == 1 ? fields : [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
            }
            for number in 0..<5 { try await client.free(number) }
            // Ten calls in a second remain, but the policy allows two a second.
            #expect(times.all == [0, 0, 500, 1_000, 1_500])
        }
    }

    @Test func `A call that one limit of the service refuses returns the tokens of the others`() throws {
        try simulated { time in
            let times = Times()
            let fields: HTTPFields = ["RateLimit": #""burst";r=2;t=10, "day";r=0;t=100"#]
            let client = Self.client(time, times, headers: { (200, $0 == 1 ? fields : [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits(longestWait: .seconds(50))
            }
            try await client.free(0)
            for number in 1...5 { await #expect(throws: ServiceError.self) { try await client.free(number) } }
            try await time.pass(.seconds(100))
            for number in 6...7 { try await client.free(number) }
            #expect(times.all == [0, 100_000, 100_000])
        }
    }

    @Test func `The older fields stop calls until the reset, and count calls in flight`() throws {
        try simulated { time in
            let times = Times()
            let start = Int(time.clock.date().timeIntervalSince1970)
            let fields: HTTPFields = ["X-RateLimit-Remaining": "2", "X-RateLimit-Reset": "\(start + 20)"]
            let client = Self.client(time, times, headers: { (200, $0 == 1 ? fields : [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
            }
            try await client.free(0)
            try await Self.callAtOnce(4) { try await client.free($0) }
            #expect(times.all == [0, 0, 0, 20_000, 20_000])
        }
    }

    @Test func `Resources of the older fields count separately`() throws {
        try simulated { time in
            let times = Times()
            let fields: HTTPFields = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "20", "X-RateLimit-Resource": "search"]
            let client = Self.client(time, times, headers: { (200, $0 == 1 ? fields : [:]) }) {
                $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
            }
            try await client.search(0)
            try await client.free(1)
            try await client.search(2)
            #expect(times.all == [0, 0, 20_000])
        }
    }

    @Test func `Limits that make no sense are faults`() throws {
        final class Broken: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["bad()": .get("/x").rateLimited(RateLimit(0, per: .zero, burst: 0))] }
            override class var defaults: EndpointDefaults { EndpointDefaults().rateLimited(RateLimit(1, per: .seconds(-1))) }
        }
        let faults = Broken.verify()
        #expect(faults.count == 4 && faults.allSatisfy { $0.kind == .badLimit && !$0.fix.isEmpty })
        #expect(faults.filter { $0.key == "bad()" }.count == 3)
        let client = Limited(serviceRoot: "https://limited.test") {
            $0.attributes[ServiceRateLimits.self] = ServiceRateLimits(longestWait: .seconds(-1))
            $0.rateLimit = RateLimit(1, per: .seconds(1), longestWait: .seconds(-1))
        }
        #expect(client.verify().map(\.kind) == [.badLimit, .badLimit])
        #expect(Limited.verify().isEmpty)
        // Nor do deadlines that have passed before a call begins.
        let late = Limited(serviceRoot: "https://limited.test") {
            $0.timeouts = ServiceTimeouts(firstByte: .zero, idle: .seconds(-1), total: .zero)
        }
        #expect(late.verify().map(\.kind) == [.badLimit, .badLimit, .badLimit])
        #expect(late.verify().allSatisfy { $0.problem.hasPrefix("the deadline ") && $0.fix.hasSuffix("nil for no limit") })
        let negative = Limited(serviceRoot: "https://limited.test") {
            $0.bodyLimit = -1
            $0.redirects.limit = -1
        }
        #expect(negative.verify().map(\.kind) == [.badLimit, .badLimit] && negative.verify().allSatisfy { $0.problem.contains("-1") })
        let table = CompiledTable(["a()": .get("/a").timeout(.seconds(-2)), "b()": .get("/b").timeout(.nanoseconds(1))], root: nil)
        #expect(table.faults.map(\.key) == ["a()"] && table.faults[0].problem.contains("total is -2 s"))
        let described = ClientDescription(client: "Limited", table: Limited.endpoints).endpoints.first
        #expect(described?.attributes == ["RateLimit(2 per 1 s, burst 1)"])
    }

    @Test func `A limit per call that makes no sense is an error that names it`() throws {
        try simulated { time in
            let client = Self.client(time, Times())
            let limits = [
                RateLimit(.min, per: .nanoseconds(1), burst: .min), RateLimit(.max, per: .nanoseconds(-1), burst: .max),
                RateLimit(1, per: .zero, burst: 1, longestWait: Duration(secondsComponent: .max, attosecondsComponent: 0) * 8),
            ]
            for limit in limits {
                let error = await #expect(throws: ServiceError.self) { try await client.with(limit) { try await $0.free(1) } }
                #expect(error?.kind == .table && error?.call.key == "free(_:)", "\(String(describing: error))")
                #expect(error?.message.contains("rate limit") == true, "\(error?.message ?? "")")
            }
            let huge = RateLimit(.max, per: Duration(secondsComponent: .max, attosecondsComponent: 0), burst: 1)
            try await client.with(huge) { try await $0.free(1) }
            let policy = RetryPolicy(attempts: -1)
            let error = await #expect(throws: ServiceError.self) { try await client.with(policy) { try await $0.free(1) } }
            #expect(error?.message.contains("-1") == true)
            try await client.with(RateLimit(1, per: .seconds(1))) { try await $0.free(1) }
        }
    }
}
