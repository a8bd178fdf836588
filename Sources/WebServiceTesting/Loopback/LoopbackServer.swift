public import Foundation

/// A scriptable HTTP/1.1 server on 127.0.0.1 (or `[::1]`) for tests, with real sockets, a free port, and every fault that a server can
/// have.
///
///     let server = try LoopbackServer { routes in
///         routes.get("/users/:id") { request in .json(#"{"id": \#(request.parameters["id"] ?? "0")}"#) }
///         routes.on("POST", "/orders", inTurn: [.status(503).with("Retry-After", "0"), .status(201)])
///         routes.fallback { _ in .drop }
///     }
///     let client = Shop(serviceRoot: server.url.absoluteString)
///
/// Each connection has its own thread, so handlers may block, and a test that fills the task pool can't starve them. The server stops when
/// ``stop()`` is called or when its last reference is released.
public final class LoopbackServer: Sendable {
    /// The limits and the address of a server.
    public struct Options: Sendable, Hashable {
        /// The number of bytes of a request's body that handlers and records receive. Further bytes are only counted. With zero, all are
        /// only counted.
        public var bodyLimit: Int
        /// The total number of body bytes that all records keep. Later records have an empty body with the correct length.
        public var recordingLimit: Int
        /// The number of connections served at the same time. Others wait to be accepted.
        public var connectionLimit: Int
        /// A Boolean value that indicates whether the server listens on `[::1]` instead of 127.0.0.1.
        public var isIPv6: Bool

        /// Makes options: by default 16 MiB per body, 256 MiB for all bodies, 512 connections, on 127.0.0.1.
        public init(
            bodyLimit: Int = 16 << 20, recordingLimit: Int = 256 << 20, connectionLimit: Int = 512, isIPv6: Bool = false
        ) {
            self.bodyLimit = bodyLimit
            self.recordingLimit = recordingLimit
            self.connectionLimit = connectionLimit
            self.isIPv6 = isIPv6
        }
    }

    /// The port, chosen by the system.
    public let port: UInt16
    /// The root URL, such as `http://127.0.0.1:49152`.
    public let url: URL

    private let core: LoopbackCore

    /// Starts a server with these routes.
    ///
    /// - Throws: ``TestingFailure`` if the system provides no socket, and the errors of `build`.
    public init(options: Options = Options(), _ build: (inout LoopbackRoutes) throws -> Void) throws {
        let routes = try LoopbackRoutes(build)
        let stopSignal = try StopSignal()
        let (listener, port) = try LoopbackSocket.listening(stop: stopSignal, isIPv6: options.isIPv6)
        let root = "http://\(options.isIPv6 ? "[::1]" : "127.0.0.1"):\(port)"
        guard let url = URL(string: root) else {
            listener.close()
            throw TestingFailure("\(root) isn't a URL")
        }
        self.port = port
        self.url = url
        core = LoopbackCore(listener: listener, stopSignal: stopSignal, options: options, routes: routes)
        core.start()
    }

    deinit {
        core.stop()
    }

    /// Ends all connections and threads and waits for them. Calling it again has no effect.
    ///
    /// Stopping takes some milliseconds. A handler that blocks its thread can delay it, for up to five seconds.
    public func stop() {
        core.stop()
    }

    /// Returns the URL of a path with an optional query. Both are sent unchanged.
    ///
    /// - Throws: ``TestingFailure`` if the result isn't a valid URL.
    public func url(_ target: String) throws -> URL {
        guard let url = URL(string: url.absoluteString + target) else {
            throw TestingFailure("“\(target)” doesn't form a URL with \(url.absoluteString)")
        }
        return url
    }

    /// Replaces all routes for subsequent requests.
    public func replaceRoutes(_ build: (inout LoopbackRoutes) throws -> Void) rethrows {
        core.routes = try LoopbackRoutes(build)
    }

    // MARK: What happened

    /// The requests in the order of completion, including those without a route.
    public var requests: [LoopbackRequest] { core.requests }

    /// The number of accepted connections.
    public var connectionCount: Int { core.connections }

    /// The number of open connections: accepted, and not yet ended by either side.
    public var openConnectionCount: Int { core.openConnections }

    /// Unscripted failures as sentences: malformed requests and errors thrown by handlers.
    public var failures: [String] { core.failures }

    /// Removes all requests and failures recorded so far.
    public func forgetRequests() {
        core.forget()
    }

    /// Waits until this number of requests has arrived and returns all requests so far.
    ///
    /// - Throws: ``TestingFailure`` with the requests that arrived if the time limit passes; `CancellationError`.
    @discardableResult
    public func waitForRequests(count: Int, within limit: Duration = .seconds(60)) async throws -> [LoopbackRequest] {
        let deadline = ContinuousClock.now + limit
        while core.requestCount < count {
            guard ContinuousClock.now < deadline else {
                let came = requests.map { "\n  \($0)" }.joined()
                throw TestingFailure("Expected \(count) requests within \(limit), found \(requests.count)\(came)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        return requests
    }

    /// Waits until at most this number of connections is open, for example to check that a cancelled client disconnects.
    ///
    /// - Throws: ``TestingFailure`` if more connections are open when the time limit passes; `CancellationError`.
    public func waitForOpenConnections(atMost count: Int, within limit: Duration = .seconds(60)) async throws {
        let deadline = ContinuousClock.now + limit
        while openConnectionCount > count {
            guard ContinuousClock.now < deadline else {
                throw TestingFailure("Expected at most \(count) open connections within \(limit), found \(openConnectionCount)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
