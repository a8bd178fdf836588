import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct CallLoggerTests {
    private let sink = CollectingSink()

    private func calls(_ level: LogLevel = .info, logsHeaders: Bool = false) -> CallLogger {
        CallLogger(
            RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace), level: level,
            logsHeaders: logsHeaders)
    }

    private func request() throws -> ServiceRequest {
        let url = try #require(URL(string: "https://ada:hunter2@api.test/orders/7?page=2&access_token=hunter2"))
        return ServiceRequest(
            method: .post, url: url, headers: ["Authorization": "Bearer hunter2", "Accept": "text/plain"], body: RequestBody(Data(count: 5))
        )
    }

    private func context(_ attribute: LoggingAttribute? = nil) -> CallContext {
        var attributes = EndpointAttributes()
        attributes[LoggingAttribute.self] = attribute
        return CallContext(
            identity: CallIdentity(client: "Shop", key: "order(id:)", route: "/orders/%%0%%"), attributes: attributes)
    }

    @Test func `a dry run makes no record`() async throws {
        let stub = StubTransport()
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.interceptors = [calls()]
        }
        _ = try await client.dryRun { try await $0.http.get("/orders").send() }
        #expect(sink.records.isEmpty && stub.requests.isEmpty)
    }

    @Test func `a call makes one record that tells what happened`() async throws {
        let request = try request()
        _ = try await calls().intercept(request, context: context()) { request, _ in
            TransportResponse(status: 200, url: request.url, body: ResponseBody(Data(count: 9)))
        }
        let record = try #require(sink.records.first)
        #expect(sink.records.count == 1)
        #expect(record.level == .info)
        #expect(record.message == "Shop.order(id:) POST 200 in 0.0 ms")
        #expect(
            record.metadata == [
                "client": "Shop", "endpoint": "order(id:)", "url.template": "/orders/%%0%%", "http.request.method": "POST",
                "url.full": "https://<masked>@api.test/orders/7?page=2&access_token=<masked>", "duration_ms": 0.0,
                "http.request.body.size": 5,
                "http.response.status_code": 200, "http.response.body.size": 9,
            ])
    }

    @Test func `no secret is in the record, with headers logged, too`() async throws {
        let request = try request()
        let response = try await calls(logsHeaders: true).intercept(request, context: context()) { request, _ in
            TransportResponse(status: 200, headers: ["Set-Cookie": "id=hunter2", "X-Api-Key": "hunter2", "Via": "1.1 p"], url: request.url)
        }
        #expect(response.status == 200)
        let body = String(decoding: try NDJSONFormat().encode(sink.records), as: UTF8.self)
        #expect(!body.contains("hunter2"))
        #expect(body.contains("\"via\":\"1.1 p\""))
        #expect(body.contains("\"accept\":\"text/plain\""))
    }

    @Test(arguments: [
        (200, LogLevel.info), (204, .info), (304, .info), (404, .warning), (500, .error), (503, .error),
    ])
    func `failures are louder`(status: Int, level: LogLevel) async throws {
        _ = try await calls().intercept(try request(), context: context()) { request, _ in
            TransportResponse(status: status, url: request.url)
        }
        #expect(sink.records.map(\.level) == [level])
    }

    @Test func `the endpoint says how loud its calls are, or that they aren't logged`() async throws {
        for attribute in [LoggingAttribute.debug, .off, .trace, LoggingAttribute(nil)] {
            _ = try await calls().intercept(try request(), context: context(attribute)) { request, _ in
                TransportResponse(status: 200, url: request.url)
            }
        }
        await #expect(throws: TransportError.self) {
            _ = try await calls().intercept(try request(), context: context(.off)) { _, _ in throw TransportError(.tls, "No.") }
        }
        #expect(sink.records.map(\.level) == [.debug, .trace])
    }

    @Test func `errors are logged as errors, cancelling at debug, and both go on to the caller`() async throws {
        await #expect(throws: TransportError.self) {
            _ = try await calls().intercept(try request(), context: context()) { _, _ in throw TransportError(.tls, "No trust.") }
        }
        await #expect(throws: CancellationError.self) {
            _ = try await calls().intercept(try request(), context: context()) { _, _ in throw CancellationError() }
        }
        #expect(sink.records.map(\.level) == [.error, .debug])
        #expect(sink.records.map(\.message) == ["Shop.order(id:) POST failed after 0.0 ms", "Shop.order(id:) POST cancelled after 0.0 ms"])
        #expect(sink.records.map(\.error) == ["No trust. (tls)", nil])
    }

    @Test func `a streamed body is logged when it has been read, left, or broken off`() async throws {
        enum End: CaseIterable { case read, left, broken }
        for end in End.allCases {
            let pieces = Locked(3)
            do {
                let response = try await calls().intercept(try request(), context: context()) { request, _ in
                    let body = ResponseBody(
                        expectedLength: nil,
                        next: {
                            let left = pieces.withLock { left in
                                left -= 1
                                return left
                            }
                            if end == .broken, left == 0 { throw TransportError(.truncated, "Cut.") }
                            return left >= 0 ? Data(count: 10) : nil
                        }, cancel: {})
                    return TransportResponse(status: 200, url: request.url, body: body)
                }
                #expect(sink.records.count == End.allCases.firstIndex(of: end))
                if end == .left {
                    var iterator = response.body.makeAsyncIterator()
                    #expect(try await iterator.next()?.count == 10)
                } else {
                    #expect(try await response.body.collect(upTo: 100).count == 30)
                }
            } catch {
                #expect(end == .broken)
            }
        }
        #expect(sink.records.map { $0.metadata["http.response.body.size"] } == [.int(30), .int(10), .int(20)])
        #expect(sink.records.map(\.level) == [.info, .info, .error])
        #expect(sink.records[1].message.hasSuffix("body not read to its end"))
        #expect(sink.records[2].message.contains("broke off"))
    }

    @Test func `repeats and redirects inside the chain are in the record`() async throws {
        let server = try LoopbackServer { routes in
            routes.on("GET", "/old", inTurn: [.status(503).with("Retry-After", "0"), .redirect(to: "/new")])
            routes.get("/new") { _ in .text("here") }
        }
        let client = WebServiceClient(serviceRoot: server.url.absoluteString) {
            $0.interceptors = [calls()]
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero, cap: .zero))
        }
        #expect(try await client.http.get("/old").raw().value(String.self) == "here")
        let metadata = try #require(sink.records.first).metadata
        #expect(metadata["http.request.resend_count"] == .int(2) && metadata["repeats"] == .int(1))
        #expect(metadata["redirects"] == .int(1))
        #expect(metadata["url.answered"] == .string(server.url.absoluteString + "/new"))
    }

    @Test func `the shipper's own requests are left alone`() async throws {
        let seen = Locked<ServiceRequest?>(nil)
        struct Peek: Transport {
            let seen: Locked<ServiceRequest?>
            var capabilities: TransportCapabilities { [] }
            func send(_ request: ServiceRequest) async throws -> TransportResponse {
                seen.withLock { $0 = request }
                return TransportResponse(status: 200, url: request.url)
            }
        }
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: Peek(seen: seen))
        shipper.write(.sample())
        #expect(await shipper.flush(within: .seconds(300)))
        let request = try #require(seen.withLock { $0 })
        _ = try await calls(.critical).intercept(request, context: context()) { request, _ in
            TransportResponse(status: 500, url: request.url)
        }
        #expect(sink.records.isEmpty)
    }
}
