import Foundation
import Testing
import TransportConformance
import WebServiceClient
import WebServiceTesting

@Suite struct TransportConformanceTests {
    /// A transport that answers every request with a closure.
    private struct Answering: Transport {
        var capabilities: TransportCapabilities = []
        let answer: @Sendable (ServiceRequest) async throws -> TransportResponse

        func send(_ request: ServiceRequest) async throws -> TransportResponse { try await answer(request) }
    }

    private static let blind = Answering { TransportResponse(status: 200, url: $0.url) }
    private static let fine = ConformanceCase("own/fine", "Anything is fine.") { _ in }
    private static let broken = ConformanceCase("own/broken", "Nothing is fine.") { _ in throw TestingFailure("It is broken.") }
    private static let demanding = ConformanceCase("own/demanding", "Trailers come.", needing: [.trailers, .metrics]) { subject in
        _ = try await subject.transport.send(ServiceRequest(url: URL(filePath: "/")))
    }

    @Test func `names are unique, and demands are sentences`() {
        let cases = TransportConformance.cases
        #expect(Set(cases.map(\.name)).count == cases.count)
        for item in cases {
            #expect(item.name.split(separator: "/").count == 2, "\(item)")
            #expect(item.demand.hasSuffix("."), "\(item)")
        }
    }

    @Test func `a report lists passed, failed, skipped and gaps`() async throws {
        let suite = TransportConformance(
            knownGaps: ["own/known": "We know."],
            cases: [
                Self.fine, Self.broken, Self.demanding,
                ConformanceCase("own/known", "Nothing is fine here either.") { _ in throw TestingFailure("Known.") },
                ConformanceCase("own/elsewhere", "Machines differ.") { _ in throw ConformanceSkip("Not on this machine.") },
            ]
        ) { Self.blind }
        let report = await suite.run()
        #expect(report.passed.map(\.conformanceCase.name) == ["own/fine"])
        #expect(report.failed.map(\.outcome) == [.failed("It is broken.")])
        #expect(
            report.skipped.map(\.outcome) == [
                .skipped("The transport doesn't declare trailers, metrics."), .skipped("Not on this machine."),
            ])
        #expect(report.gaps.map(\.outcome) == [.gap("We know.")])
        #expect(!report.isConforming)
        for text in ["1 passed, 1 failed, 2 skipped, 1 known gaps", "own/broken: It is broken.", "Nothing is fine.", "own/known: We know."]
        {
            #expect(report.description.contains(text), "\(report)")
        }
        #expect(!report.description.contains("own/fine"))
    }

    @Test func `a case that lacks a capability sends nothing`() async throws {
        let sent = Locked(0)
        let transport = Answering { request in
            sent.withLock { $0 += 1 }
            return TransportResponse(status: 200, url: request.url)
        }
        let suite = TransportConformance(cases: [Self.demanding]) { transport }
        #expect(try await suite.check(Self.demanding) == .skipped("The transport doesn't declare trailers, metrics."))
        #expect(sent.withLock { $0 } == 0)
        let able = Answering(capabilities: [.trailers, .metrics], answer: transport.answer)
        #expect(try await TransportConformance(cases: [Self.demanding]) { able }.check(Self.demanding) == .passed)
        #expect(sent.withLock { $0 } == 1)
    }

    @Test func `a gap that isn't there any more is a failure`() async throws {
        let suite = TransportConformance(knownGaps: ["own/fine": "We thought so."], cases: [Self.fine]) { Self.blind }
        let failure = await #expect(throws: TestingFailure.self) { try await suite.check(Self.fine) }
        #expect(failure?.description.contains("We thought so.") == true)
        #expect(await suite.run().failed.count == 1)
    }

    @Test func `a gap of no case is a failure`() async throws {
        for suite in [
            TransportConformance(knownGaps: ["own/typo": "Oh."], cases: [Self.fine], transport: { Self.blind }),
            TransportConformance(fatalGaps: ["own/typo": "Oh."], cases: [Self.fine], transport: { Self.blind }),
        ] {
            let failure = await #expect(throws: TestingFailure.self) { try await suite.check(Self.fine) }
            #expect(failure?.description.contains("own/typo") == true)
            #expect(await suite.run().failed.map(\.conformanceCase.name) == ["own/typo"])
        }
    }

    @Test func `a fatal gap isn't run`() async throws {
        let ran = Locked(false)
        let fatal = ConformanceCase("own/fatal", "It kills.") { _ in ran.withLock { $0 = true } }
        let suite = TransportConformance(fatalGaps: ["own/fatal": "It really does."], cases: [fatal]) { Self.blind }
        #expect(try await suite.check(fatal) == .gap("Not run: It really does."))
        #expect(!ran.withLock { $0 })
    }

    @Test func `a case that hangs fails with its name`() async throws {
        let hanging = ConformanceCase("own/hanging", "It ends.") { _ in
            while true { try? await Task.sleep(for: .seconds(1)); await Task.yield(); if Task.isCancelled { return } }
        }
        // A case that ignores cancellation is abandoned.
        let deaf = ConformanceCase("own/deaf", "It ends.") { _ in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                DispatchQueue.global().asyncAfter(deadline: .now() + 3) { continuation.resume() }
            }
        }
        let suite = TransportConformance(cases: [hanging, deaf], limit: .milliseconds(50)) { Self.blind }
        for item in suite.cases {
            let failure = await #expect(throws: TestingFailure.self) { try await suite.check(item) }
            #expect(failure?.description.contains("\(item.name) did not end within 0.05 seconds") == true)
        }
    }

    @Test func `cancelling a run ends it`() async throws {
        let started = Locked(false)
        let hanging = ConformanceCase("own/hanging", "It ends.") { _ in
            started.withLock { $0 = true }
            try await Task.sleep(for: .seconds(1_000))
        }
        let suite = TransportConformance(cases: [hanging, Self.fine]) { Self.blind }
        let task = Task { await suite.run() }
        while !started.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        #expect(await task.value.entries.count == 2)
    }

    @Test func `a transport that can't be made fails each case`() async throws {
        let suite = TransportConformance(cases: [Self.fine]) { throw TestingFailure("No engine here.") }
        #expect(await suite.run().failed.map(\.outcome) == [.failed("No engine here.")])
    }

    /// The faults of these transports must be found: a suite that passes everything proves nothing.
    @Test func `a transport that only says yes fails nearly everything`() async throws {
        let quick = TransportConformance.cases.filter {
            ["plain", "fields", "targets", "restraint", "malformed"].contains($0.name.split(separator: "/")[0])
        }
        let report = await TransportConformance(cases: quick, limit: .seconds(2)) { Self.blind }.run()
        let passed = report.passed.map(\.conformanceCase.name)
        // A transport that sends nothing leaks nothing.
        #expect(passed == ["restraint/user-info"], "\(passed)")
    }

    @Test func `a transport that follows, retries, decorates and swallows is found out`() async throws {
        func failures(
            _ names: [String], able capabilities: TransportCapabilities = [],
            _ answer: @escaping @Sendable (ServiceRequest) async throws -> TransportResponse
        ) async -> [String] {
            let cases = TransportConformance.cases.filter { names.contains($0.name) }
            #expect(cases.count == names.count)
            return await TransportConformance(cases: cases, limit: .seconds(10)) {
                Answering(capabilities: capabilities, answer: answer)
            }.run().failed
                .map(\.conformanceCase.name)
        }
        let inner = DefaultTransport.shared

        #expect(
            await failures(["restraint/redirects"]) { request in
                let response = try await inner.send(request)
                guard let location = response.headers[.location], location == "/next" else { return response }
                var next = request
                next.url = URL(string: location, relativeTo: request.url)?.absoluteURL ?? request.url
                return try await inner.send(next)
            } == ["restraint/redirects"])
        #expect(
            await failures(["fields/none-added"]) { request in
                var decorated = request
                decorated.headers["X-Ray"] = "1"
                return try await inner.send(decorated)
            } == ["fields/none-added"])
        #expect(
            await failures(["connections/post-once-bare"]) { request in
                do { return try await inner.send(request) } catch { return try await inner.send(request) }
            } == ["connections/post-once-bare"])
        #expect(
            await failures(["cuts/length"]) { request in
                let response = try await inner.send(request)
                let body = (try? await response.body.collect(upTo: .max)) ?? Data()
                return TransportResponse(status: response.status, headers: response.headers, url: response.url, body: ResponseBody(body))
            } == ["cuts/length"])
        #expect(
            await failures(["downloads/back-pressure"], able: .backPressure) { request in
                let response = try await inner.send(request)
                let body = try await response.body.collect(upTo: .max)
                return TransportResponse(status: response.status, headers: response.headers, url: response.url, body: ResponseBody(body))
            } == ["downloads/back-pressure"])
        #expect(
            await failures(["cancellation/waiting", "cancellation/before"]) { request in
                try await Task.detached { try await inner.send(request) }.value
            } == ["cancellation/before", "cancellation/waiting"])
    }
}
