/// Removes header fields that may be credentials from requests to an origin outside the service. This applies whether an interceptor, the
/// call's own `prepare`, a URL builder or a redirect set the field or changed the URL.
///
/// Harmless fields (``HeaderRules``) are kept. The diagnostics name the removed fields.
struct OriginBoundary: Sendable {
    var rules = HeaderRules.standard
    /// Further origins of the same service.
    var allowed: Set<Origin> = []
    /// Whether the client has interceptors, which may change any request's URL.
    var hasInterceptors = false
    /// The fields of the client's session, which stay in the service even if they are harmless.
    var session: HTTPFields = [:]

    /// Whether a call may go to another origin. Most calls can't, and need no check.
    @inline(__always)
    func watches(_ context: CallContext) -> Bool {
        hasInterceptors || context.prepare != nil || context.record.outside != nil || context.record.hasURLBuilder
    }

    /// Whether an origin gets the service's credentials.
    func isService(_ origin: Origin?, _ context: CallContext) -> Bool {
        guard let origin, !context.isForeign else { return false }
        return origin == context.serviceOrigin || allowed.contains(origin)
    }

    /// Removes the fields that interceptors added to a call outside the service, because they are meant for the service. The call's own
    /// fields are kept.
    func withoutAdditions(_ request: ServiceRequest, to bound: ServiceRequest, _ context: CallContext) -> ServiceRequest {
        var result = request
        var left: [HTTPFields.Name] = []
        for name in Self.names(in: request.headers) where !rules.travels(name) {
            let own = bound.headers[values: name]
            let values = request.headers[values: name]
            guard values != own else { continue }
            left.append(name)
            result.headers[name] = nil
            for value in values where own.contains(value) { result.headers.append(name, value) }
        }
        report(.warning, left, request, context) { place in
            "an interceptor set them, and \(place) is outside the service. Set them on the call itself if they are for that server"
        }
        return result
    }

    /// Removes the fields that an interceptor inside redirects added to a request for an origin outside the service. If the interceptor
    /// also changed the origin, removes all fields that this origin must not receive.
    func withoutForeignAdditions(_ request: ServiceRequest, to original: ServiceRequest, _ context: CallContext) -> ServiceRequest {
        guard context.record.outside != nil || context.serviceOrigin != nil, !isService(request.origin, context) else { return request }
        return request.origin == original.origin ? withoutAdditions(request, to: original, context) : withinOrigin(request, context)
    }

    /// Removes the fields that the origin of the request's URL must not receive.
    func withinOrigin(_ request: ServiceRequest, _ context: CallContext) -> ServiceRequest {
        let origin = request.origin
        if let outside = context.record.outside {
            if origin == outside.origin { return request }
        } else if context.serviceOrigin == nil || isService(origin, context) {
            return request
        }
        return withoutCredentials(request, .warning, context) { place in
            "the URL was changed to \(place), an unlisted origin. If it belongs to the service, add it to Configuration.allowedOrigins; "
                + "otherwise send the call with http.request(outside:) and its own fields"
        }
    }

    /// Removes the fields that the target of a redirect must not receive.
    func afterRedirect(_ request: ServiceRequest, from origin: Origin?, _ context: CallContext) -> ServiceRequest {
        let next = request.origin
        guard next != origin || next == nil else { return request }
        var result = request
        result.headers[.host] = nil
        if isService(origin, context), isService(next, context) { return result }
        return withoutCredentials(result, .notice, context) { place in "the redirect to \(place) leaves the origin" }
    }

    private func withoutCredentials(
        _ request: ServiceRequest, _ level: Diagnostics.Event.Level, _ context: CallContext, reason: (_ place: String) -> String
    ) -> ServiceRequest {
        var result = request
        // A call's own value isn't the session's.
        for name in Self.names(in: session) where request.headers[values: name] == session[values: name] { result.headers[name] = nil }
        let left = Self.names(in: result.headers).filter { !rules.travels($0) }
        guard !left.isEmpty else { return result }
        for name in left { result.headers[name] = nil }
        report(level, left.filter { $0 != .host }, request, context, reason: reason)
        return result
    }

    private func report(
        _ level: Diagnostics.Event.Level, _ names: [HTTPFields.Name], _ request: ServiceRequest, _ context: CallContext,
        reason: (_ place: String) -> String
    ) {
        guard !names.isEmpty else { return }
        let fields = names.map(\.rawName).joined(separator: ", ")
        let place = request.origin?.description ?? "no origin"
        context.diagnostics.report(
            .init(
                level,
                "Header fields were removed (\(fields)): \(reason(place)). List fields without secrets in "
                    + "Configuration.headerRules.",
                call: context.identity))
    }

    /// The distinct names.
    private static func names(in headers: HTTPFields) -> [HTTPFields.Name] {
        var seen: Set<HTTPFields.Name> = []
        return headers.compactMap { seen.insert($0.name).inserted ? $0.name : nil }
    }
}

/// An interceptor that runs inside redirects, where a hop may lead to another origin: the fields that it adds for the service stay there.
struct BoundedInterceptor: Interceptor {
    let interceptor: any Interceptor
    let boundary: OriginBoundary

    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        try await interceptor.intercept(request, context: context) { changed, context in
            try await next(boundary.withoutForeignAdditions(changed, to: request, context), context)
        }
    }
}
