import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CallTests {
    private let tea = #"{"id":1,"name":"tea"}"#

    // MARK: Ways to call

    @Test func `Dynamic calls need no method`() async throws {
        let (client, stub) = Store.stubbed(.json(tea, status: 201))
        let item: StoreItem = try await client.dynamic.item(id: 5)
        #expect(item.name == "tea")
        let response: ServiceResponse<StoreItem> = try await client.dynamic.item(id: 6)
        #expect(response.status == 201)
        try await client.dynamic.create(item)
        try await client.dynamic.ping()
        let none: StoreItem? = try await client.dynamic.item(id: 7)
        #expect(none?.id == 1)
        #expect(stub.requests.map(\.key) == ["item(id:)", "item(id:)", "create(_:)", "ping()", "item(id:)"])
        #expect(stub.requests[2].body != nil)
        #expect(await serviceError { try await client.dynamic.itm(id: 1) }?.message.contains("\"item(id:)\"") == true)
    }

    @Test func `Properties and ignored closures have keys too`() async throws {
        let (client, stub) = Store.stubbed(.json("42"))
        #expect(try await client.count == 42)
        stub["watch(id:prepare:)"] = .json(tea)
        _ = try await client.watch(id: 3) { $0.headers["X-Mine"] = "1" }
        #expect(stub.requests.last?.request.headers["X-Mine"] == "1")
    }

    @Test func `Ad-hoc calls have every verb`() async throws {
        let (client, stub) = Store.stubbed(.json(tea))
        _ = try await client.http.get("/g/%%0%%", 1).value(StoreItem.self)
        try await client.http.head("/h").send()
        try await client.http.post("/p", StoreItem(id: 1, name: "x")).send()
        try await client.http.put("/u").body(StoreItem(id: 1, name: "x")).send()
        try await client.http.patch("/t").body(Data()).send()
        try await client.http.delete("/d").send()
        try await client.http.request("OPTIONS", "/o").accepting([200]).send()
        #expect(stub.requests.map(\.request.method.rawValue) == ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        #expect(stub.requests[0].key == "GET /g/%%0%%" && stub.requests[2].body != nil)
    }

    @Test @MainActor func `A dry run is made on any actor, with what belongs to that`() async throws {
        let client = WebServiceClient(serviceRoot: "https://api.test")
        var paths: [String] = []
        for path in ["/a", "/b"] {
            let request = try await client.dryRun {
                paths.append(path)
                return try await $0.http.get(path).send()
            }
            #expect(request.url.path() == path)
        }
        #expect(paths == ["/a", "/b"])
        actor Buyer {
            func path(of client: WebServiceClient) async throws -> String {
                try await client.dryRun { try await $0.http.get("/c").send() }.url.path()
            }
        }
        #expect(try await Buyer().path(of: client) == "/c")
    }

    @Test func `A dry run sends nothing and authenticates`() async throws {
        let (client, stub) = Store.stubbed { $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw") }
        let request = try await client.dryRun { try await $0.item(id: 5) }
        #expect(request.url.absoluteString == "https://api.test/v1/items/5" && request.headers[.authorization]?.hasPrefix("Basic") == true)
        #expect(!request.curlCommand.contains("YWRh") && stub.requests.isEmpty)
        await #expect(throws: DryRunError.self) { try await client.dryRun { _ in 1 } }
        await #expect(throws: Refusal.self) { try await client.dryRun { _ in throw Refusal() } }
        client.configure { $0.retry = RetryPolicy() }
        _ = try await client.dryRun { try await $0.items(page: 1) }
        #expect(stub.requests.isEmpty)
    }

    @Test func `A dry run catches no call that an interceptor makes, of another client or of its own`() async throws {
        let (other, otherStub) = Store.stubbed(.text("token"), root: "https://sign-in.test")
        let (client, stub) = Store.stubbed(.text("own"))
        let isInside = Locked(false)
        client.configure { configuration in
            configuration.interceptors = [
                RequestPreparer { request in
                    guard
                        isInside.withLock({ inside in
                            defer { inside = true }
                            return !inside
                        })
                    else { return }
                    request.headers["X-Token"] = try await other.http.get("/token").value(String.self)
                    request.headers["X-Own"] = try await client.http.get("/own").value(String.self)
                }
            ]
        }
        let request = try await client.dryRun { try await $0.item(id: 5) }
        #expect(request.url.absoluteString == "https://api.test/v1/items/5")
        #expect(request.headers["X-Token"] == "token" && request.headers["X-Own"] == "own")
        #expect(otherStub.requests.count == 1 && stub.requests.map(\.key) == ["GET /own"])
    }

    @Test func `A dry run takes its own client's call, whatever its closure does beside it`() async throws {
        let (other, otherStub) = Store.stubbed(.text("token"), root: "https://sign-in.test")
        let client = Store.stubbed().client
        let request = try await client.dryRun { client in
            let token = try await other.http.get("/token").value(String.self)
            return try await client.http.get("/items").query("token", token).send()
        }
        #expect(request.url.absoluteString == "https://api.test/v1/items?token=token" && otherStub.requests.count == 1)
        let swallowed = try await client.dryRun { client in try? await client.http.get("/a").send() }
        #expect(swallowed.url.absoluteString == "https://api.test/v1/a")
        await #expect(throws: DryRunError.self) { try await client.dryRun { _ in try await other.http.get("/x").send() } }
    }

    @Test func `A link of the same origin has credentials, another origin is refused`() async throws {
        let (client, stub) = Store.stubbed {
            $0.headers = ["X-Team": "core"]
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw")
        }
        let link = try #require(URL(string: "https://API.test:443/next?skip=2#f"))
        try await client.http.request(link: link).query("top", 1).send()
        let first = try #require(stub.requests.first?.request)
        #expect(first.headers[.authorization] != nil && first.headers["X-Team"] == "core")
        #expect(first.url.absoluteString.hasSuffix("/next?skip=2&top=1"))
        for text in ["https://other.test/", "http://api.test/", "https://api.test:8443/", "/relative", "ftp://api.test/"] {
            let url = try #require(URL(string: text))
            let error = await serviceError { try await client.http.request(link: url).send() }
            #expect(error?.kind == .request, "\(text)")
        }
        #expect(stub.requests.count == 1)
    }

    @Test func `A call outside has neither credentials nor the client's headers`() async throws {
        let (client, stub) = Store.stubbed {
            $0.headers = ["X-Team": "core", "Cookie": "id=1"]
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw")
        }
        for text in ["https://other.test/x", "https://api.test/v1/x"] {
            let url = try #require(URL(string: text))
            try await client.http.request(.post, outside: url).header("X-Own", "1").describing { $0.header("X-Fixed", "2") }.body(
                StoreItem(id: 1, name: "")
            ).send()
            let headers = try #require(stub.requests.last?.request.headers)
            #expect(headers[.authorization] == nil && headers["X-Team"] == nil && headers[.cookie] == nil)
            #expect(headers["X-Own"] == "1" && headers["X-Fixed"] == "2" && headers[.contentType] == "application/json")
        }
    }

    @Test func `A timeout sets the deadline and leaves the other limits`() async throws {
        let limits = ServiceTimeouts(firstByte: .seconds(5), idle: .seconds(6))
        let now = ContinuousClock.now
        let request = try await request(configure: { $0.timeouts = limits }) { $0.http.get("/").timeout(.seconds(100)) }
        let deadline = try #require(request.deadline)
        #expect(deadline > now.advanced(by: .seconds(90)) && deadline <= ContinuousClock.now.advanced(by: .seconds(100)))
        let declared = try await WebServiceClientTests.request(configure: { $0.timeouts = limits }) {
            $0.http.get("/").describing { $0.timeout(.seconds(9)) }
        }
        #expect(declared.timeouts == ServiceTimeouts(firstByte: .seconds(5), idle: .seconds(6), total: .seconds(9)))
        let plain = try await WebServiceClientTests.request { $0.http.get("/") }
        #expect(plain.deadline == nil)
    }

    @Test func `A URL builder makes the URL`() async throws {
        struct Shouting: URLBuilder {
            func url(from parts: URLParts) throws -> URL {
                guard !parts.path.contains("no") else { throw Refusal() }
                return try #require(URL(string: parts.root + "/SHOUT" + parts.path + "?" + parts.query))
            }
        }
        let request = try await request(configure: { $0.urlBuilder = Shouting() }) { $0.http.get("/a/%%0%%?x=1", "b c") }
        #expect(request.url.absoluteString == "https://api.test/v1/SHOUT/a/b%20c?x=1")
        let error = await serviceError {
            _ = try await WebServiceClientTests.request(configure: { $0.urlBuilder = Shouting() }) { $0.http.get("/no") }
        }
        #expect(error?.cause as? Refusal == Refusal())
    }

    // MARK: Configuration

    @Test func `Changes from many tasks are all kept, each as one`() async throws {
        let client = Store.stubbed().client
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    client.configure {
                        $0.headers[HTTPFields.Name("X-\(number)")] = "1"
                        $0.bodyLimit += 1
                    }
                }
                group.addTask {
                    let seen = client.configuration
                    #expect(seen.bodyLimit - 64 * 1024 * 1024 == seen.headers.count)
                }
            }
        }
        #expect(client.configuration.headers.count == 100 && client.configuration.bodyLimit == 64 * 1024 * 1024 + 100)
    }

    // MARK: The chain

    @Test func `Preparers and processors run in their order, an error ends the chain`() async throws {
        let log = Locked<[String]>([])
        @Sendable func note(_ text: String) { log.withLock { $0.append(text) } }
        let (client, stub) = Store.stubbed(.inTurn(.redirect(to: "/v1/b"), .status(200))) {
            $0.interceptors = [
                RequestPreparer { _ in note("p1") }, RequestPreparer { _ in note("p2") }, ResponseProcessor { _ in note("r1") },
                ResponseProcessor { _ in note("r2") },
                ResponseProcessor(inOrder: [ResponseProcessor { _ in note("a") }, ResponseProcessor { _ in note("b") }]),
            ]
        }
        try await client.http.get("/a").prepare { _ in note("call") }.send()
        #expect(log.withLock { $0 } == ["p1", "p2", "call", "a", "b", "r2", "r1"])
        log.withLock { $0 = [] }
        client.configure {
            $0.interceptors = [
                RequestPreparer { _ in note("p1") }, RequestPreparer { _ in throw Refusal() }, RequestPreparer { _ in note("p3") },
            ]
        }
        stub.forgetRequests()
        let error = try #require(await serviceError { try await client.http.get("/a").send() })
        #expect(error.kind == .interceptor && error.stage == .chain && error.cause as? Refusal == Refusal())
        #expect(log.withLock { $0 } == ["p1"] && stub.requests.isEmpty)
        client.configure { $0.interceptors = [ResponseProcessor { $0.status = 204 }] }
        #expect(try await client.http.get("/a").value(StoreItem?.self) == nil)
    }

    @Test(arguments: [0, 1, 5]) func `Processors in order see what those before have changed, and the first failure ends them`(
        count: Int
    ) async throws {
        let reached = Locked<[Int]>([])
        let processors = (0..<count).map { number in
            ResponseProcessor { response in
                reached.withLock { $0.append(response.status) }
                response.status += 1
                if number == 2 { throw Refusal() }
            }
        }
        let (client, stub) = Store.stubbed(.status(200)) {
            $0.interceptors = [ResponseProcessor(inOrder: processors)]
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero))
        }
        let error = await serviceError {
            let response = try await client.http.get("/a").response(String?.self)
            #expect(response.status == 200 + count)
        }
        #expect(reached.withLock { $0 } == Array(200..<200 + min(count, 3)))
        #expect((error?.cause as? Refusal != nil) == (count == 5) && error?.kind == (count == 5 ? .interceptor : nil))
        // A processor's failure isn't the server's: nothing is repeated.
        #expect(stub.requests.count == 1)
    }

    @Test func `An interceptor reads an endpoint's attribute and may answer by itself`() async throws {
        struct Audited: EndpointAttribute { let by: String }
        struct Answering: Interceptor {
            func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
                TransportResponse(
                    status: 200, url: request.url, body: ResponseBody(Data((context.attributes[Audited.self]?.by ?? "nobody").utf8)))
            }
        }
        let (client, stub) = Store.stubbed { $0.interceptors = [Answering()] }
        #expect(try await client.http.get("/").describing { $0.attribute(Audited(by: "billing")) }.value(String.self) == "billing")
        #expect(try await client.http.get("/").value(String.self) == "nobody" && stub.requests.isEmpty)
    }

    @Test func `The cache identifier takes arguments and reaches the interceptors as it is, and with a nil there is none`() async throws {
        struct Naming: Interceptor {
            func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
                TransportResponse(status: 200, url: request.url, body: ResponseBody(Data((context.cacheIdentifier ?? "none").utf8)))
            }
        }
        let (client, _) = Store.stubbed { $0.interceptors = [Naming()] }
        let call = client.http.get("/orders/%%0%%", 7).argument("view", "a/b %%0%%").describing {
            $0.cacheIdentifier("orders/%%0%%/%%view%%")
        }
        #expect(try await call.value(String.self) == "orders/7/a/b %%0%%")
        let missing = client.http.get("/orders").argument("view", nil).describing { $0.cacheIdentifier("orders/%%view%%") }
        #expect(try await missing.value(String.self) == "none")
        #expect(try await client.http.get("/orders").value(String.self) == "none")
        #expect(try await client.http.get("/").describing { $0.cacheIdentifier("fixed") }.value(String.self) == "fixed")
    }

    @Test func `A bad header or method that a preparer sets is never sent`() async throws {
        let (client, stub) = Store.stubbed()
        for change: @Sendable (inout ServiceRequest) -> Void in [
            { $0.headers["X-A"] = "a\r\nb" }, { $0.headers["X A"] = "a" }, { $0.method = "GE T" },
        ] {
            #expect(await serviceError { try await client.http.get("/").prepare { change(&$0) }.send() }?.kind == .request)
        }
        #expect(stub.requests.isEmpty)
    }

    // MARK: Cancellation

    @Test(arguments: ["before", "preparing", "transport", "body", "handler", "decoding"])
    func `A cancelled task gets CancellationError at every stage`(stage: String) async throws {
        struct Cancelling: ErrorHandler {
            func verdict(on outcome: CallOutcome) -> ErrorVerdict {
                withUnsafeCurrentTask { $0?.cancel() }
                return .fail(Refusal())
            }
        }
        struct CancellingValue: Decodable, Sendable {
            init(from decoder: any Decoder) throws { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let tea = tea
        // The transport may run in a child task, so it cancels the caller's by its handle.
        let caller = Locked<Task<Void, any Error>?>(nil)
        let isKnown = Gate()
        await #expect(throws: CancellationError.self) {
            let task = Task {
                try await isKnown.pass()
                let (client, stub) = Store.stubbed(.json(tea))
                switch stage {
                case "before": withUnsafeCurrentTask { $0?.cancel() }
                case "preparing": client.configure { $0.interceptors = [RequestPreparer { _ in withUnsafeCurrentTask { $0?.cancel() } }] }
                case "transport":
                    stub.fallback(
                        StubAnswer { _ in
                            caller.withLock { $0 }?.cancel()
                            throw TransportError(.connectionLost, "gone")
                        })
                case "body":
                    stub.fallback(
                        StubAnswer { request in
                            let body = ResponseBody(
                                expectedLength: nil,
                                next: {
                                    withUnsafeCurrentTask { $0?.cancel() }
                                    throw TransportError(.truncated, "gone")
                                }, cancel: {})
                            return TransportResponse(status: 200, url: request.request.url, body: body)
                        })
                case "handler": client.configure { $0.errorHandler = Cancelling() }
                default: break
                }
                _ = try await client.http.get("/").value(CancellingValue.self)
            }
            caller.withLock { $0 = task }
            isKnown.open()
            try await task.value
        }
    }

    @Test func `A call in flight ends when its task is cancelled`() async throws {
        let (client, stub) = Store.stubbed(.never)
        let task = Task { try await client.item(id: 1) }
        while stub.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `A dynamic call has a deadline and a preparation of its own`() async throws {
        let (client, stub) = Store.stubbed(.json(#"{"id":1,"name":"tea"}"#))
        let item: StoreItem = try await client.dynamic(timeout: .seconds(7_000)) { $0.headers["X-Own"] = "yes" }.item(id: 1)
        let request = try #require(stub.requests.first).request
        #expect(item.id == 1 && request.headers["X-Own"] == "yes" && request.timeouts.total == .seconds(7_000))
        let _: StoreItem = try await client.dynamic.item(id: 1)
        #expect(stub.requests.last?.request.headers["X-Own"] == nil)
    }
}
