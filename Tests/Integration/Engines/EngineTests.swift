import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// The promises of a transport, against third-party servers: each engine, plain and over TLS, in HTTP/1.1 and HTTP/2.
    @Suite struct EngineTests {
        @Test(arguments: Route.all) func `a request arrives as it was sent, and the version is told`(route: Route) async throws {
            let way = try route.open()
            for method in [ServiceRequest.Method.get, .post, .put, .patch, .delete] {
                let body = method == .get ? nil : RequestBody(Data("{\"a\": \"ü\"}".utf8), contentType: "application/json")
                var request = try way.request(method, "/anything/a%20b?q=%C3%BC%26&r=", body: body)
                request.headers["X-Sent"] = "one, two"
                let echo = try await way.echo(request)
                #expect(echo.method == method.rawValue)
                #expect(echo.args == ["q": "ü&", "r": ""])
                #expect(echo.headers["X-Sent"] == "one, two")
                #expect(echo.data == (body == nil ? "" : "{\"a\": \"ü\"}"))
            }
            let version = try await way.exchange(try way.request("/anything")).response.httpVersion
            // URLSession doesn't report it on Linux.
            #expect(version == (way.speaksHTTP2 ? "HTTP/2" : "HTTP/1.1") || route.engine == .urlSession && version == nil)
        }

        @Test(arguments: Route.all) func `every status is a response, and no redirect is followed`(route: Route) async throws {
            let way = try route.open()
            for status in [200, 201, 204, 304, 400, 404, 418, 500, 503] {
                #expect(try await way.exchange(try way.request("/status/\(status)")).response.status == status)
            }
            let challenged = try await way.exchange(try way.request("/status/401")).response
            #expect(challenged.status == 401 && challenged.headers["WWW-Authenticate"]?.contains("Fake Realm") == true)
            let redirect = try await way.exchange(try way.request("/redirect-to?url=/anything&status_code=307")).response
            #expect(redirect.status == 307)
            #expect(redirect.headers[.location]?.hasSuffix("/anything") == true)
        }

        @Test(arguments: Route.all) func `bodies go out from memory, files and streams`(route: Route) async throws {
            let way = try route.open()
            // More than engines run at once.
            let text = String(repeating: "Crème brûlée – ", count: 80_000)
            let data = Data(text.utf8)
            let file = FileManager.default.temporaryDirectory.appending(path: "engine-\(UUID().uuidString)")
            try data.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let pieces: @Sendable () -> AsyncThrowingStream<Data, any Error> = {
                AsyncThrowingStream { feed in
                    for start in stride(from: 0, to: data.count, by: 50_000) {
                        feed.yield(data[start..<min(start + 50_000, data.count)])
                    }
                    feed.finish()
                }
            }
            let sized = RequestBody(length: Int64(data.count), open: pieces)
            // lighttpd 1.4.69 resets HTTP/2 streams whose bodies have no length, for the curl program as well.
            let isLengthNeeded = route.server == "tls-lighttpd" && way.speaksHTTP2
            let unsized = isLengthNeeded ? [] : [RequestBody(open: pieces)]
            for body in [RequestBody(data), try RequestBody(file: file), sized] + unsized {
                let progress = Locked(TransferProgress(completed: 0, total: nil))
                var request = try way.request(.post, "/anything", body: body)
                request.headers[.contentType] = "text/plain; charset=utf-8"
                request.uploadProgress = { now in progress.withLock { $0 = now } }
                #expect(isExactly(try await way.echo(request).data, text))
                #expect(progress.withLock { $0.completed } == Int64(data.count))
            }
        }

        @Test(arguments: Route.all) func `bodies arrive byte by byte as they are`(route: Route) async throws {
            let way = try route.open()
            let letters = Data((0..<100_000).map { UInt8(97 + $0 % 26) })
            let (response, body) = try await way.exchange(try way.request("/range/100000"))
            #expect(body == letters && response.body.expectedLength == 100_000)
            let random = try await way.exchange(try way.request("/bytes/50000?seed=3")).body
            let streamed = try await way.exchange(try way.request("/stream-bytes/50000?seed=3&chunk_size=999")).body
            #expect(random.count == 50_000 && random == streamed)
            let head = try await way.exchange(try way.request(.head, "/range/1000"))
            #expect(head.response.headers[.contentLength] == "1000" && head.body.isEmpty)
        }

        @Test(arguments: Route.all, ["gzip", "deflate", "brotli"])
        func `codings are undone where the engine knows them, and else left`(route: Route, coding: String) async throws {
            let way = try route.open()
            let (response, body) = try await way.exchange(try way.request("/\(coding)"))
            let isDecoded = body.first == UInt8(ascii: "{")
            switch (route.engine, coding) {
            case (.curl, "gzip"), (.curl, "deflate"), (.urlSession, "gzip"), (.urlSession, "deflate"): #expect(isDecoded)
            #if AsyncHTTPClient
            case (.asyncHTTPClient, "gzip"), (.asyncHTTPClient, "deflate"): #expect(isDecoded)
            #endif
            default: #expect(isDecoded || response.headers[.contentEncoding] == "br")
            }
            if isDecoded { _ = try JSONSerialization.jsonObject(with: body) }
        }

        @Test(arguments: Route.all) func `fields keep their number, and cookies aren't kept`(route: Route) async throws {
            let way = try route.open()
            let response = try await way.exchange(try way.request("/response-headers?X-Twice=1&X-Twice=2")).response
            // URLSession joins them into one field.
            let values = response.headers[values: "X-Twice"]
            #expect(values == ["1", "2"] || route.engine == .urlSession && values.count == 1 && values[0].filter { $0 != " " } == "1,2")
            let set = try await way.exchange(try way.request("/cookies/set?a=b")).response
            #expect(set.headers["Set-Cookie"]?.hasPrefix("a=b") == true)
            let cookies = try await way.exchange(try way.request("/cookies")).body
            #expect(String(decoding: cookies, as: UTF8.self).filter { !$0.isWhitespace } == #"{"cookies":{}}"#)
        }

        @Test(arguments: Route.steady) func `times end what stands still, and so does the caller`(route: Route) async throws {
            let way = try route.open()
            var slow = try way.request("/delay/8")
            slow.timeouts.firstByte = .milliseconds(300)
            #expect(try await way.failure(slow)?.code == .timedOutWaiting)
            var whole = try way.request("/delay/8")
            whole.timeouts.total = .milliseconds(300)
            #expect(try await way.failure(whole)?.code == .timedOutTotal)
            // Cancelled during the upload, which the server would keep waiting.
            let (sent, feed) = AsyncStream<Void>.makeStream()
            let left = Locked(2)
            let body = RequestBody(length: 2) {
                AsyncThrowingStream {
                    let number = left.withLock { left in
                        left -= 1
                        return left
                    }
                    if number == 0 { feed.finish() }
                    return number < 0 ? nil : Data("x".utf8)
                }
            }
            let uploading = try way.request(.post, "/delay/8", body: body)
            try await ending(within: .seconds(60)) {
                let call = Task { try await way.exchange(uploading) }
                for await _ in sent {}
                call.cancel()
                // Without the cancellation, it would end with the server's answer.
                await #expect(throws: CancellationError.self) { _ = try await call.value }
            }
        }

        @Test(arguments: Route.steady)
        func `many at once each get their own answer`(route: Route) async throws {
            let way = try route.open()
            let requests = try (0..<48).map { try way.request("/anything?n=\($0)") }
            let wrong = try await ending(within: .seconds(120)) {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for (number, request) in requests.enumerated() {
                        group.addTask { try await way.echo(request).args != ["n": "\(number)"] }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            #expect(wrong == 0)
        }

        /// Engines without own authorities: on Linux URLSession supports only the system's.
        @Test(
            .enabled(if: Route.isRootTrusted, "run the tests under `Tests/Integration/trusting DIR`, which needs root"),
            arguments: Engine.all.filter { !$0.isHTTPClient })
        func `the system's authorities count where none are named`(engine: Engine) async throws {
            let faults: [(String, TransportError.Code)] = [
                ("tls-unknown-issuer", .unknownIssuer), ("tls-expired", .certificateExpired), ("tls-wrong-host", .certificateForOtherHost),
                ("tls-incomplete", .unknownIssuer),
            ]
            for (name, code) in [("tls-nginx", nil)] + faults.map({ ($0, Optional($1)) }) {
                let server = try TestServer.named(name)
                let transport = try #require(try engine.transport(to: server, http1Only: false))
                let way = Way(transport: transport, server: server, trust: nil, speaksHTTP2: false)
                let found = try await way.failure(try way.request("/hello.txt"))?.code
                #expect(found == code, "\(name): \(String(describing: found))")
            }
        }
    }
}
