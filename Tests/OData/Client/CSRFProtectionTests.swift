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
}
