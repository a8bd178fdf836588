import Foundation

/// The headers and query items of a client's session, prepared for its calls.
///
/// The headers of a call's first request are bound with those of client and class, by precedence. The query items are added inside
/// redirects, because whether a request goes to the service is known only there.
struct SessionItems: Sendable {
    var headers: HTTPFields = [:]
    /// The query items: the name, and the encoded pair.
    var query: [(name: String, pair: String)] = []
    /// The values that descriptions mask.
    var secretTexts: [String] = []
    /// A digest of what distinguishes the session's responses from those of other sessions; empty if nothing does.
    var identity = ""

    var isEmpty: Bool { headers.isEmpty && query.isEmpty }

    /// Returns the request with the query items whose names its URL doesn't have.
    func addingQuery(to request: ServiceRequest) -> ServiceRequest {
        guard !query.isEmpty else { return request }
        let old = URLQueryItems(of: request.url)
        var items = old
        // Two items of the session may have the same name.
        for (name, pair) in query where !old.contains(name) { items.append(pair) }
        guard items.text != old.text, let extended = items.replacingQuery(of: request.url) else { return request }
        var request = request
        request.url = extended
        if !secretTexts.isEmpty { request.secrets = RequestSecrets.adding(secretTexts, to: request.secrets) }
        return request
    }

    /// Returns the request of a redirect with the headers that it lacks, for example because an earlier redirect left the service.
    func addingHeaders(to request: ServiceRequest) -> ServiceRequest {
        var request = request
        for field in headers where !request.headers.contains(field.name) { request.headers.append(field.name, field.value) }
        return request
    }
}

/// The service that a client calls, and that its state belongs to.
struct ServicePlace: Hashable, Sendable, CustomStringConvertible {
    /// The name of the environment; `nil` without environments.
    var environment: String?
    /// The origin of the service root; `nil` without a root, and if its host is an argument.
    var origin: Origin?

    var description: String {
        (origin?.description ?? "a service without a fixed origin") + (environment.map { " in the environment \"\($0)\"" } ?? "")
    }
}

/// The stage of the chain that adds the session's query items, and after redirects its headers, to requests of the service.
struct SessionStage: Interceptor {
    let items: SessionItems
    let boundary: OriginBoundary

    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard boundary.isService(request.origin, context) else { return try await next(request, context) }
        let prepared = items.addingQuery(to: context.hop > 0 ? items.addingHeaders(to: request) : request)
        guard prepared.url != request.url else { return try await next(prepared, context) }
        // As with credentials in a URL, relative links in the response are resolved against the URL without the secrets.
        var context = context
        if context.shownURL == nil, !items.secretTexts.isEmpty { context.shownURL = request.url }
        return try await next(prepared, context)
    }
}
