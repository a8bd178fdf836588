import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct CSRFProtectionTests {
    /// A service that issues tokens and accepts only the latest one.
    private struct Service {
        let stub = StubTransport()
        let fetches = Locked(0)
        let valid = Locked("t1")

        init(cookies: Bool = true) {
            let (fetches, valid) = (fetches, valid)
            stub.fallback(
                .answering { recorded in
                    let request = recorded.request
                    if request.headers["X-CSRF-Token"] == "Fetch" {
                        fetches.withLock { $0 += 1 }
                        let token = valid.withLock { $0 }
                        var headers: HTTPFields = ["X-CSRF-Token": token]
                        headers.append("Set-Cookie", "SAP_SESSION=\(token); Path=/; HttpOnly")
                        headers.append("Set-Cookie", "client=100; Secure")
                        return .json("{}", headers: headers).delayed(by: .milliseconds(20))
                    }
                    let token = valid.withLock { $0 }
                    let isRight = request.headers["X-CSRF-Token"] == token && request.headers[.cookie] == "SAP_SESSION=\(token); client=100"
                    return isRight ? .status(204) : .json("{}", status: 403, headers: ["X-CSRF-Token": "Required"])
                })
        }

        func client(_ root: String = "https://h.example/svc/") throws -> ODataClient {
            let url = try #require(URL(string: "https://h.example/svc/"))
            return ODataClient(serviceRoot: root) {
                $0.transport = stub
                $0.interceptors = [CSRFProtection(fetchingFrom: url)]
            }
        }
    }

    private let people = ResourcePath(entitySet: "Reset")

    @Test func `the token and its cookies are fetched once for many waiting calls`() async throws {
        let service = Service()
        let client = try service.client()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await client.invoke(people) } }
            try await group.waitForAll()
        }
        #expect(service.fetches.withLock { $0 } == 1)
    }

    @Test func `the request for a token has no field of the change, and accepts any answer`() async throws {
        let service = Service()
        let client = try service.client()
        client.printer = QueryPrinter(version: .v2)
        client.tunnelsMethods = true
        client.configure { $0.headers["X-Team"] = "core" }
        var batch = ODataBatch()
        batch.delete(FetchRequest<DynamicEntity>(from: "Items").key(1))
        // The service has no batches; only the request for the token matters.
        _ = try? await client.send(batch)
        let image = RequestBody(Data([1]))
        _ = try await client.createMedia(image, contentType: "image/png", slug: "a", in: FetchRequest<DynamicEntity>(from: "Photos"))
        service.valid.withLock { $0 = "t2" }
        try await client.update(
            FetchRequest<DynamicEntity>(from: "Items").key(1), setting: ["Name": "a"], if: .version("W/\"1\""), preferring: .minimal)
        let fetches = service.stub.requests.map(\.request).filter { $0.headers["X-CSRF-Token"] == "Fetch" }
        #expect(fetches.count == 2)
        for fetch in fetches {
            #expect(fetch.method == .get && fetch.headers[.accept] == "*/*" && fetch.headers["X-Team"] == "core")
            let known: Set = ["accept", "x-team", "x-csrf-token", "user-agent", "dataserviceversion", "maxdataserviceversion"]
            #expect(Set(fetch.headers.map(\.name.canonicalName)).subtracting(known).isEmpty, "\(fetch.headers)")
        }
    }

    @Test func `without the protection, the error of a refused change names it`() async throws {
        let service = Service()
        let unprotected = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = service.stub }
        let items = FetchRequest<DynamicEntity>(from: "Items")
        var batch = ODataBatch()
        batch.delete(items.key(1))
        for change in [
            { try await unprotected.invoke(people) }, { [batch] in _ = try await unprotected.send(batch) },
            { _ = try await unprotected.create(["a": 1] as DynamicEntity, in: items) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: ServiceError.self) { try await change() }
            #expect(error?.status == 403 && error?.message.contains("add CSRFProtection") == true, "\(error?.message ?? "")")
        }
        // Another refusal has another reason.
        service.stub.fallback(.status(403))
        let other = await #expect(throws: ServiceError.self) { try await unprotected.invoke(people) }
        #expect(other?.status == 403 && other?.message.contains("CSRF") == false)
    }

    @Test func `an expired token is fetched again and the call repeated`() async throws {
        let service = Service()
        let client = try service.client()
        try await client.invoke(people)
        service.valid.withLock { $0 = "t2" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await client.invoke(people) } }
            try await group.waitForAll()
        }
        #expect(service.fetches.withLock { $0 } == 2)
    }

    @Test func `reads and other origins get no token`() async throws {
        let service = Service()
        _ = try? await service.client().fetch(FetchRequest<DynamicEntity>(from: "People"))
        _ = try? await service.client("https://other.example/").invoke(people)
        #expect(service.fetches.withLock { $0 } == 0)
        #expect(service.stub.requests.allSatisfy { $0.request.headers[.cookie] == nil })
    }

    @Test func `a refused call is repeated only once`() async throws {
        let stub = StubTransport()
        stub.fallback(
            .answering {
                $0.request.headers["X-CSRF-Token"] == "Fetch"
                    ? .json("{}", headers: ["X-CSRF-Token": "a"]) : .json("{}", status: 403, headers: ["X-CSRF-Token": "Required"])
            })
        let url = try #require(URL(string: "https://h.example/svc/"))
        let client = ODataClient(serviceRoot: "https://h.example/svc/") {
            $0.transport = stub
            $0.interceptors = [CSRFProtection(fetchingFrom: url, method: .head)]
        }
        let error = await #expect(throws: ServiceError.self) { try await client.invoke(people) }
        #expect(error?.status == 403 && stub.requests.count == 4 && stub.requests[0].request.method == .head)
        #expect(error?.message.contains("session's cookies") == true && error?.message.contains("add CSRFProtection") == false)
    }

    @Test func `a missing token is an error for all waiting calls`() async throws {
        let stub = StubTransport()
        stub.fallback(.answering { _ in .json("{}", status: 401).delayed(by: .milliseconds(10)) })
        let url = try #require(URL(string: "https://h.example/svc/"))
        let client = ODataClient(serviceRoot: "https://h.example/svc/") {
            $0.transport = stub
            $0.interceptors = [CSRFProtection(fetchingFrom: url)]
        }
        let errors = await withTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        try await client.invoke(people)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.allSatisfy { ($0 as? ServiceError)?.cause as? CSRFProtectionError == CSRFProtectionError(status: 401) })
    }

    @Test func `a cancelled call doesn't fail other waiting calls`() async throws {
        let service = Service()
        let client = try service.client()
        let first = Task { try await client.invoke(people) }
        let others = (0..<5).map { _ in Task { try await client.invoke(people) } }
        first.cancel()
        for other in others { try await other.value }
        await #expect(throws: (any Error).self) { try await first.value }
    }

    /// A change with a body that can be sent once.
    private func upload() throws -> ServiceRequest {
        var request = ServiceRequest(method: .post, url: try #require(URL(string: "https://h.example/svc/Photos")))
        request.headers = [
            "Accept": "multipart/mixed", "Slug": "a.png", "X-HTTP-Method": "MERGE", "Content-Encoding": "gzip", "X-Tenant": "7",
        ]
        request.body = RequestBody(length: nil) { AsyncThrowingStream { $0.finish() } }
        return request
    }

    @Test func `a refused token is discarded although the change can't be sent again`() async throws {
        let protection = CSRFProtection(fetchingFrom: try #require(URL(string: "https://h.example/svc/")))
        let valid = Locked("t1")
        let fetches = Locked<[HTTPFields]>([])
        let next: NextInterceptor = { request, _ in
            let token = valid.withLock { $0 }
            if request.headers["X-CSRF-Token"] == "Fetch" {
                fetches.withLock { $0.append(request.headers) }
                return TransportResponse(status: 200, headers: ["X-CSRF-Token": token], url: request.url)
            }
            let isValid = request.headers["X-CSRF-Token"] == token
            return TransportResponse(status: isValid ? 201 : 403, headers: isValid ? [:] : ["X-CSRF-Token": "Required"], url: request.url)
        }
        var statuses: [Int] = []
        for token in ["t1", "t2", "t2", "t3", "t3"] {
            valid.withLock { $0 = token }
            statuses.append(try await protection.intercept(try upload(), context: CallContext(), next: next).status)
        }
        #expect(statuses == [201, 403, 201, 403, 201])
        // The fetch has the client's fields, but none that concerns the change.
        let fields = fetches.withLock { $0 }
        #expect(fields.count == 3)
        #expect(fields.allSatisfy { $0["X-Tenant"] == "7" && $0[.accept] == "*/*" })
        #expect(fields.allSatisfy { $0["Slug"] == nil && $0["X-HTTP-Method"] == nil && $0["Content-Encoding"] == nil })
    }

    @Test(arguments: [true, false])
    func `a call that ends for its own reason doesn't fail other waiting calls`(isCancelled: Bool) async throws {
        let protection = CSRFProtection(fetchingFrom: try #require(URL(string: "https://h.example/svc/")))
        let (started, isStarted) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let fetches = Locked(0)
        let next: NextInterceptor = { request, context in
            guard request.headers["X-CSRF-Token"] == "Fetch" else {
                return TransportResponse(status: request.headers["X-CSRF-Token"] == "t" ? 204 : 403, url: request.url)
            }
            let number = fetches.withLock { number in
                number += 1
                return number
            }
            if number == 1 {
                isStarted.yield()
                for await _ in released { break }
                try context.record.cancellation.check()
                throw TransportError(.timedOutTotal, "The total time has passed.")
            }
            return TransportResponse(status: 200, headers: ["X-CSRF-Token": "t"], url: request.url)
        }
        let request = try upload()
        let contexts = (0..<4).map { _ in CallContext() }
        let first = Task { try await protection.intercept(request, context: contexts[0], next: next).status }
        for await _ in started { break }
        let others = contexts[1...].map { context in Task { try await protection.intercept(request, context: context, next: next).status } }
        // A waiting call can be cancelled while the token is fetched.
        contexts[3].record.cancellation.cancel(CallCancelled(reason: "enough"))
        await #expect(throws: CallCancelled.self) { try await others[2].value }
        if isCancelled { contexts[0].record.cancellation.cancel(CallCancelled(reason: "enough")) }
        release.yield()
        await #expect(throws: (any Error).self) { try await first.value }
        for other in others[..<2] { #expect(try await other.value == 204) }
        #expect(fetches.withLock { $0 } == 2)
    }
}
