import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

extension IntegrationTests {
    /// One engine after the other, so that the timing of one doesn't include the work of another.
    @Suite(.serialized) struct CancellationTests {
        private struct Ending: Sendable {
            var isCancelled = false
            var failure: String?
            var time = Duration.zero
            /// The number of the call.
            var kind = 0
        }

        /// The engines, each with a connection for every call, so that calls are cancelled on the wire and not in a queue.
        enum Engine: String, CaseIterable, Sendable {
            case libcurl, URLSession

            func transport(atOnce: Int) throws -> (any Transport, invalidate: @Sendable () -> Void) {
                switch self {
                case .libcurl:
                    let transport = try CurlTransport()
                    return (transport, { transport.invalidate() })
                case .URLSession:
                    var configuration = URLSessionTransport.Configuration()
                    configuration.maximumConnectionsPerHost = atOnce
                    let transport = URLSessionTransport(configuration: configuration)
                    return (transport, { transport.invalidate() })
                }
            }
        }

        /// Different servers: with Digest, redirects, TLS, and none of these.
        private struct Services: Sendable {
            let httpbin, apache, nginx: WebServiceClient
            let secure: WebServiceClient?
            /// Accepts the request, and never answers.
            let hanging: WebServiceClient

            init(_ transport: any Transport, speaksTLS: Bool, hangingAt hanging: URL) throws {
                func client(
                    _ name: String, _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
                ) throws -> WebServiceClient {
                    WebServiceClient(serviceRoot: try TestServer.named(name).url) {
                        $0.transport = transport
                        configure(&$0)
                    }
                }
                let apache = try TestServer.named("apache-digest")
                httpbin = try client("httpbin")
                self.apache = try client("apache-digest") {
                    $0.authenticationProvider = DigestAuthenticationProvider(user: apache.user, password: apache.password)
                }
                nginx = try client("nginx-gzip")
                self.hanging = WebServiceClient(serviceRoot: hanging.absoluteString) { $0.transport = transport }
                let own = try TestServer.named("tls-nginx").tls?.ownAuthorityOnly()
                let isSecure = speaksTLS && transport.capabilities.contains(.pinning)
                secure = isSecure ? try client("tls-nginx") { $0.trust = own.map { TrustPolicy(authorities: $0) } } : nil
            }
        }

        @Test(arguments: CurlTransport.shared == nil ? [Engine.URLSession] : Engine.allCases)
        func `a thousand calls, cancelled at random moments, end once and leave nothing`(engine: Engine) async throws {
            // The first use of an engine opens the descriptors that it keeps.
            let (first, invalidate) = try engine.transport(atOnce: 1)
            let client = try TestServer.client {
                $0.transport = first
                // A server that has just started may close a connection.
                $0.retry = RetryPolicy()
            }
            try await client.http.get("/get").send()
            invalidate()
            let (before, threads) = (Self.descriptors, Self.threads)

            let stalls = StallMeter()
            let endings = try await ending(within: .seconds(60)) {
                try await Self.cancelledCalls(count: 1_000, atOnce: 32, over: engine)
            }
            #expect(endings.count == 1_000)
            #expect(endings.compactMap(\.failure) == [])
            let cancelled = endings.filter(\.isCancelled).sorted { $0.time < $1.time }
            let times = cancelled.map(\.time)
            #expect(times.count > 500)
            let stall = stalls.stop()
            if let longest = times.last {
                print(
                    "cancelled \(times.count) calls over \(engine.rawValue): end after \(times[times.count / 2]) (median),",
                    "\(longest) (at most, kind \(cancelled.suffix(3).map(\.kind))); the machine let a sleeping thread wait for \(stall)")
            }

            #expect(
                try await eventually(within: .seconds(30)) { Self.descriptors <= before + 4 },
                "\(before) descriptors became \(Self.descriptors)")
            // The threads of the pool and of the engines' queues vary.
            #expect(
                try await eventually(within: .seconds(30)) { Self.threads <= threads + 8 }, "\(threads) threads became \(Self.threads)")
            // Calls that the server still handles after their cancellation must not slow down the next test.
            try await TestServer.client().http.get("/get").timeout(.seconds(30)).send()
        }

        private static func cancelledCalls(count: Int, atOnce: Int, over engine: Engine) async throws -> [Ending] {
            let (transport, invalidate) = try engine.transport(atOnce: atOnce)
            defer { invalidate() }
            let server = try LoopbackServer { $0.fallback { _ in .hang } }
            defer { server.stop() }
            let services = try Services(transport, speaksTLS: engine == .libcurl, hangingAt: server.url)
            return await withTaskGroup(of: Ending.self) { group in
                var random = HostileText(seed: 11)
                var endings: [Ending] = []
                for number in 0..<count {
                    if number >= atOnce, let ending = await group.next() { endings.append(ending) }
                    let moment = Duration.microseconds(Int.random(in: 0...30_000, using: &random))
                    group.addTask { await cancelledCall(services, number, after: moment) }
                }
                for await ending in group { endings.append(ending) }
                return endings
            }
        }

        /// A call that is cancelled at its moment, unless it ends earlier.
        private static func cancelledCall(_ services: Services, _ number: Int, after moment: Duration) async -> Ending {
            let ended = Locked(0)
            let kind = number % 10
            let work = Task {
                defer { ended.withLock { $0 += 1 } }
                let client = services.httpbin
                switch kind {
                case 0: try await client.http.get("/delay/1").send()
                case 4: try await client.http.get("/redirect/3").send()
                case 5: try await services.apache.http.get("/delay/1").send()
                case 6: try await services.nginx.http.get("/products.json").send()
                case 7: try await (services.secure ?? services.nginx).http.get("/delay/1").accepting(.any).send()
                case 1: try await client.http.get("/bytes/100000").send()
                case 3: try await client.http.get("/bytes/1000").send()  // Often ends just as it is cancelled.
                case 2: try await client.http.get("/drip").query("duration", 1).query("numbytes", 20).query("delay", 0).send()
                case 8: try await services.hanging.http.get("/hang").send()
                default:
                    let stream = try await client.http.get("/drip").query("duration", 1).query("numbytes", 20).query("delay", 0).stream()
                    for try await _ in stream.value {}
                    try Task.checkCancellation()
                }
            }
            try? await Task.sleep(for: moment)
            let cancelled = ContinuousClock.now
            work.cancel()
            var ending = Ending(kind: kind)
            do {
                try await work.value
            } catch is CancellationError {
                ending.isCancelled = true
            } catch {
                ending.failure = String(describing: error)
            }
            ending.time = ContinuousClock.now - cancelled
            if ended.withLock({ $0 }) != 1 { ending.failure = "The call did not end exactly once." }
            return ending
        }

        /// The number of threads of this process; 0 if the system doesn't report it.
        private static var threads: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
        }

        /// The number of open files and sockets of this process; 0 if the system doesn't report it.
        private static var descriptors: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        }
    }
}
