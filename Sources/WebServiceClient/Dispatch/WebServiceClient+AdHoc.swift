public import Foundation

extension WebServiceClient {
    /// Makes calls without a table: `client.http.get("/users/%%0%%", id)`. They have a namespace of their own so that endpoint methods can be
    /// called `get` or `delete`.
    public var http: HTTPCalls { HTTPCalls(client: self) }

    /// The origin of the service root; `nil` when there is none, or its host is an argument.
    package var serviceOrigin: Origin? { state.root?.origin }
}

/// Makes calls without a table: ``WebServiceClient/WebServiceClient/http``.
///
///     let user: User = try await client.http.get("/users/%%0%%", id).value()
///     try await client.http.delete("/users/%%0%%", id).send()
///
/// Each function makes a ``ServiceCall`` and sends nothing. ``ServiceCall/send()``, ``ServiceCall/value(_:)``, ``ServiceCall/response(_:)`` and
/// ``ServiceCall/stream()`` send it; the compiler warns about a call that is made and not used.
public struct HTTPCalls: Sendable {
    let client: WebServiceClient

    /// A call of any method to a route beneath the service root; `%%N%%` in it stands for the arguments that follow.
    public func request(_ method: ServiceRequest.Method, _ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .endpoint(method, route), arguments: arguments)
    }

    /// A GET call: `client.http.get("/users/%%0%%", id).value(User.self)`.
    public func get(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .get(route), arguments: arguments)
    }

    /// A HEAD call.
    public func head(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .head(route), arguments: arguments)
    }

    /// A POST call.
    public func post(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .post(route), arguments: arguments)
    }

    /// A PUT call.
    public func put(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .put(route), arguments: arguments)
    }

    /// A PATCH call.
    public func patch(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .patch(route), arguments: arguments)
    }

    /// A DELETE call.
    public func delete(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .delete(route), arguments: arguments)
    }

    /// A call to a path beneath the service root that is percent-encoded already, with its query if it has one: it goes over the wire as
    /// it stands. Modules that print their own URLs use it.
    package func request(_ method: ServiceRequest.Method = .get, encoded target: String) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .encoded(target)
        call.key = "\(method) encoded"
        return call
    }

    /// A call to a URL that the service itself gave: a next page, a location. It must be of the service root's origin, and then has the
    /// client's headers and credentials; another origin is an error, since a response must not decide where credentials go.
    public func request(_ method: ServiceRequest.Method = .get, link: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .link(link)
        call.key = "\(method) link"
        return call
    }

    /// A call to an absolute URL outside the service: without credentials and without the client's and the class's headers, but through
    /// the same chain.
    public func request(_ method: ServiceRequest.Method = .get, outside url: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .outside(url)
        call.key = "\(method) outside"
        return call
    }
}
