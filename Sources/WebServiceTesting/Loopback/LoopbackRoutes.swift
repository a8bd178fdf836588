/// The routes of a ``LoopbackServer``. The first one that matches a request answers it.
///
/// A pattern is a path whose segments are literal texts, compared with the decoded segments of the request, `:name` for any single segment,
/// or `*name` at the end for all remaining ones; the values are in ``LoopbackRequest/parameters``. A `GET` route also answers `HEAD`,
/// without the body. A path without a route gets the fallback's response, or a 404 that names the request; a path that has routes for other
/// methods only gets a 405 with `Allow`.
public struct LoopbackRoutes: Sendable {
    /// A handler that runs on the connection's thread. It may block, and needs no task.
    public typealias Handler = @Sendable (LoopbackRequest) throws -> LoopbackResponse
    /// A handler that runs as a task, which is cancelled when the client disconnects or the server stops.
    public typealias AsyncHandler = @Sendable (LoopbackRequest) async throws -> LoopbackResponse

    /// The time at which a handler is called.
    public enum Reading: Sendable, Hashable {
        /// After the whole body has been read, and `100 Continue` sent if expected.
        case body
        /// After the head. `100 Continue` is never sent; the client's body is read and discarded after the response.
        case headOnly
    }

    enum Action: Sendable {
        case sync(Handler)
        case async(AsyncHandler)
    }

    struct Route: Sendable {
        let method: String
        let pattern: RoutePattern
        let reading: Reading
        let guards: [LoopbackGuard]
        let action: Action
    }

    private var routes: [Route] = []
    private var fallbackRoute: Route?
    private var guards: [LoopbackGuard] = []

    package init(_ build: (inout LoopbackRoutes) throws -> Void) rethrows {
        try build(&self)
    }

    // MARK: Adding routes

    /// Answers `GET` (and `HEAD`) of a path.
    public mutating func get(_ pattern: String, handler: @escaping Handler) {
        add("GET", pattern, .body, .sync(handler))
    }

    /// Answers `GET` (and `HEAD`) of a path, in a task.
    public mutating func get(_ pattern: String, handler: @escaping AsyncHandler) {
        add("GET", pattern, .body, .async(handler))
    }

    /// Answers a method of a path; the method `*` matches any.
    public mutating func on(_ method: String, _ pattern: String, reading: Reading = .body, handler: @escaping Handler) {
        add(method, pattern, reading, .sync(handler))
    }

    /// Answers a method of a path, in a task; the method `*` matches any.
    public mutating func on(_ method: String, _ pattern: String, reading: Reading = .body, handler: @escaping AsyncHandler) {
        add(method, pattern, reading, .async(handler))
    }

    /// Answers a method of a path with one response after the other; the last one repeats. The method `*` matches any.
    public mutating func on(_ method: String, _ pattern: String, inTurn responses: [LoopbackResponse]) {
        let turns = Turns(responses)
        add(method, pattern, .body, .sync { _ in turns.next() ?? .text("The route's list of responses is empty\n", status: 500) })
    }

    /// Answers requests that match no route.
    public mutating func fallback(reading: Reading = .body, handler: @escaping Handler) {
        fallbackRoute = route("*", "/*", reading, .sync(handler))
    }

    /// Answers requests that match no route, in a task.
    public mutating func fallback(reading: Reading = .body, handler: @escaping AsyncHandler) {
        fallbackRoute = route("*", "/*", reading, .async(handler))
    }

    /// Adds routes with a guard. If the guard returns a response, it replaces the handler's.
    public mutating func guarded(by newGuard: LoopbackGuard, _ build: (inout LoopbackRoutes) throws -> Void) rethrows {
        guards.append(newGuard)
        defer { guards.removeLast() }
        try build(&self)
    }

    private mutating func add(_ method: String, _ pattern: String, _ reading: Reading, _ action: Action) {
        routes.append(route(method, pattern, reading, action))
    }

    private func route(_ method: String, _ pattern: String, _ reading: Reading, _ action: Action) -> Route {
        Route(method: method, pattern: RoutePattern(pattern), reading: reading, guards: guards, action: action)
    }

    // MARK: Finding routes

    /// Returns the route for a request and the values of its parameters.
    func find(method: String, segments: [String]) -> (route: Route, parameters: [String: String]) {
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.pattern.match(segments) else { continue }
            if route.method == "*" || route.method == method || (route.method == "GET" && method == "HEAD") {
                return (route, parameters)
            }
            allowed.append(route.method)
        }
        if let fallbackRoute { return (fallbackRoute, [:]) }
        return (Self.refusal(allowing: allowed), [:])
    }

    private static func refusal(allowing methods: [String]) -> Route {
        let answer: Handler = { request in
            if methods.isEmpty { return .text("No route fits \(request.method) \(request.path)\n", status: 404) }
            let allowed = methods.joined(separator: ", ")
            return .text("\(request.path) has routes for \(allowed) only\n", status: 405).with("Allow", allowed)
        }
        return Route(method: "*", pattern: RoutePattern("/*"), reading: .body, guards: [], action: .sync(answer))
    }
}

/// A check that runs before the handlers of routes and can answer in their place.
public struct LoopbackGuard: Sendable {
    package let check: @Sendable (LoopbackRequest) -> LoopbackResponse?

    /// Makes a guard from a closure, which returns `nil` to accept a request.
    public init(_ check: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse?) {
        self.check = check
    }

    /// Accepts requests with these credentials by Basic authentication in UTF-8 (RFC 7617), and challenges all others.
    public static func basicAuthentication(user: String, password: String, realm: String) -> LoopbackGuard {
        LoopbackGuard { request in
            if let found = request.basicCredentials, found == (user, password) { return nil }
            let quoted = realm.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
            return .unauthorized("Basic realm=\"\(quoted)\", charset=\"UTF-8\"")
        }
    }
}
