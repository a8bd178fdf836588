public import Foundation

/// An HTTP/1.1 server on 127.0.0.1 (or `[::1]`) which a test scripts: real sockets, a free port, and every fault that a server can have.
///
///     let server = try LoopbackServer { routes in
///         routes.get("/users/:id") { request in .json(#"{"id": \#(request.parameters["id"] ?? "0")}"#) }
///         routes.on("POST", "/orders", inTurn: [.status(503).with("Retry-After", "0"), .status(201)])
///         routes.fallback { _ in .drop }
///     }
///     let client = Shop(serviceRoot: server.url.absoluteString)
///
/// Each connection has a thread of its own, so that handlers may block and a test that fills the task pool can't starve them.
/// The server stops when ``stop()`` is called or when nobody holds it any more.
public final class LoopbackServer: Sendable {
    /// The bounds of a server, and where it listens.
    public struct Options: Sendable, Hashable {
        /// How many bytes of a request's body handlers and records get; more are counted only. Zero counts all bodies only.
        public var bodyLimit: Int
        /// How many bytes of bodies all records keep together; later records have an empty body and its right length.
        public var recordingLimit: Int
        /// How many connections are served at a time; others wait to be accepted.
        public var connectionLimit: Int
        /// Whether the server listens on `[::1]` instead of 127.0.0.1.
        public var isIPv6: Bool

        /// Makes bounds: by default 16 MiB for a body, 256 MiB for all, 512 connections, on 127.0.0.1.
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
    /// The root, as in `http://127.0.0.1:49152`.
    public let url: URL

    private let core: LoopbackCore

    /// Starts a server with these routes.
    ///
    /// - Throws: ``TestingFailure`` when the system gives no socket, and what `build` throws.
    public init(options: Options = Options(), _ build: (inout LoopbackRoutes) throws -> Void) throws {
        let routes = try LoopbackRoutes(build)
        let stopSignal = try StopSignal()
        let (listener, port) = try LoopbackSocket.listening(stop: stopSignal, isIPv6: options.isIPv6)
        let root = "http://\(options.isIPv6 ? "[::1]" : "127.0.0.1"):\(port)"
        guard let url = URL(string: root) else {
            listener.close()
            throw TestingFailure("\(root) is no URL")
        }
        self.port = port
        self.url = url
        core = LoopbackCore(listener: listener, stopSignal: stopSignal, options: options, routes: routes)
        core.start()
    }

    deinit {
        core.stop()
    }

    /// Ends all connections and threads and waits for them; calling it again does nothing.
    ///
    /// It takes some milliseconds; only a handler that blocks its thread can hold it up, for five seconds at most.
    public func stop() {
        core.stop()
    }

    /// The URL of a path, and a query after it, both as they are to be sent.
    ///
    /// - Throws: ``TestingFailure`` when they make no URL.
    public func url(_ target: String) throws -> URL {
        guard let url = URL(string: url.absoluteString + target) else {
            throw TestingFailure("“\(target)” makes no URL with \(url.absoluteString)")
        }
        return url
    }

    /// Replaces all routes, for requests from now on.
    public func replaceRoutes(_ build: (inout LoopbackRoutes) throws -> Void) rethrows {
        core.routes = try LoopbackRoutes(build)
    }

    // MARK: What happened

    /// The requests in the order in which they were complete, those without a route too.
    public var requests: [LoopbackRequest] { core.requests }

    /// How many connections were accepted.
    public var connectionCount: Int { core.connections }

    /// How many connections are open just now: accepted, and ended by neither side.
    public var openConnectionCount: Int { core.openConnections }

    /// What went wrong and was not scripted: malformed requests and errors that handlers threw, as sentences.
    public var failures: [String] { core.failures }

    /// Forgets all requests and failures so far.
    public func forgetRequests() {
        core.forget()
    }

    /// Waits until so many requests have come and gives them, and all others so far.
    ///
    /// - Throws: ``TestingFailure`` with the requests that came when the time is over; `CancellationError`.
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

    /// Waits until so few connections are open: that a client which cancels also hangs up, for example.
    ///
    /// - Throws: ``TestingFailure`` when more are open when the time is over; `CancellationError`.
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

/// Something that looks at a request before the routes' handlers do, and may answer in their place.
public struct LoopbackGuard: Sendable {
    package let check: @Sendable (LoopbackRequest) -> LoopbackResponse?

    /// Makes a guard of a closure: `nil` lets the request pass.
    public init(_ check: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse?) {
        self.check = check
    }

    /// Lets requests pass that carry these credentials by Basic authentication in UTF-8 (RFC 7617), and challenges all others.
    public static func basicAuthentication(user: String, password: String, realm: String) -> LoopbackGuard {
        LoopbackGuard { request in
            if let found = request.basicCredentials, found == (user, password) { return nil }
            let quoted = realm.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
            return .unauthorized("Basic realm=\"\(quoted)\", charset=\"UTF-8\"")
        }
    }
}
