public import Foundation

extension WebServiceClient {
    /// Makes calls without a table: `client.http.get("/users/%%0%%", id)`. The separate namespace lets endpoint methods have names such as
    /// `get` or `delete`.
    public var http: HTTPCalls { HTTPCalls(client: self) }

    /// The origin of the service root; `nil` if the root is missing or its host is an argument.
    package var serviceOrigin: Origin? { state.root?.origin }

    /// The current date on the client's clock.
    package var currentDate: Date { runtime.clock.date() }

    /// Waits on the client's clock.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func pause(for duration: Duration) async throws {
        try await runtime.clock.sleep(duration, unless: CallCancellation())
    }
}

/// Makes calls without a table: ``WebServiceClient/WebServiceClient/http``.
///
///     let user: User = try await client.http.get("/users/%%0%%", id).value()
///     try await client.http.delete("/users/%%0%%", id).send()
///
/// Each function creates a ``ServiceCall`` and sends nothing. ``ServiceCall/send()``, ``ServiceCall/value(_:)``,
/// ``ServiceCall/response(_:)`` and ``ServiceCall/stream()`` send it. The compiler warns about an unused call.
public struct HTTPCalls: Sendable {
    let client: WebServiceClient

    /// Creates a call with any method to a route below the service root. `%%N%%` in the route is replaced by the argument at that position.
    public func request(_ method: ServiceRequest.Method, _ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .endpoint(method, route), arguments: arguments)
    }

    /// Creates a GET call: `client.http.get("/users/%%0%%", id).value(User.self)`.
    public func get(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .get(route), arguments: arguments)
    }

    /// Creates a HEAD call.
    public func head(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .head(route), arguments: arguments)
    }

    /// Creates a POST call.
    public func post(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .post(route), arguments: arguments)
    }

    /// Creates a PUT call.
    public func put(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .put(route), arguments: arguments)
    }

    /// Creates a PATCH call.
    public func patch(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .patch(route), arguments: arguments)
    }

    /// Creates a DELETE call.
    public func delete(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .delete(route), arguments: arguments)
    }

    /// Creates a call to a percent-encoded path below the service root, with its query if it has one. The target is sent unchanged. Modules
    /// that print their own URLs use it.
    package func request(_ method: ServiceRequest.Method = .get, encoded target: String) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .encoded(target)
        call.key = "\(method) encoded"
        return call
    }

    /// Creates a call to a URL from one of the service's responses, such as a next page or a location. If it has the service root's origin,
    /// the call carries the client's headers and credentials. Another origin is an error, because a response must not decide where
    /// credentials go.
    public func request(_ method: ServiceRequest.Method = .get, link: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .link(link)
        call.key = "\(method) link"
        return call
    }

    /// Creates a call to an absolute URL outside the service. It carries no credentials and no headers of client or class, but runs through
    /// the same chain.
    public func request(_ method: ServiceRequest.Method = .get, outside url: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .outside(url)
        call.key = "\(method) outside"
        return call
    }
}
