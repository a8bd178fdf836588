public import Foundation
public import WebServiceClient

/// An interceptor that adds a token against cross-site request forgery to every change, as SAP services require.
///
///     client.configure { $0.interceptors = [CSRFProtection(fetchingFrom: serviceRoot)] }
///
/// The token is fetched when the first change needs it, once for all waiting calls, with the cookies of its session. If a change is refused
/// because the token has expired (403, `X-CSRF-Token: Required`), the token is discarded, and the change is sent once more with a new one,
/// unless its body can't be sent twice. Safe methods, and calls to other origins, pass unchanged.
public struct CSRFProtection: Interceptor {
    private let url: URL
    private let method: ServiceRequest.Method
    private let tokens = CSRFTokenCache()

    /// Creates an interceptor that fetches its token from a URL.
    ///
    /// - Parameters:
    ///   - url: The URL that returns the token: the service root, with its trailing slash, since a redirect would lose the token.
    ///   - method: GET, or the cheaper HEAD for services that support it.
    public init(fetchingFrom url: URL, method: ServiceRequest.Method = .get) {
        self.url = url
        self.method = method
    }

    /// Adds the token and its cookies to changes.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard !request.method.isSafe, !context.isForeign, request.origin == Origin(url) else { return try await next(request, context) }
        let cancellation = context.record.cancellation
        let token = try await tokens.token(unless: cancellation) { try await fetch(request, context, next) }
        let response = try await next(token.added(to: request), context)
        guard response.status == 403, response.headers[CSRFToken.header]?.lowercased() == "required" else { return response }
        tokens.discard(token)
        guard request.body?.isReplayable ?? true else { return response }
        response.body.cancel()
        let fresh = try await tokens.token(unless: cancellation) { try await fetch(request, context, next) }
        return try await next(fresh.added(to: request), context)
    }

    private func fetch(_ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor) async throws -> CSRFToken {
        var fetch = ServiceRequest(method: method, url: url, headers: request.headers, timeouts: request.timeouts)
        for field in request.headers where Self.belongsToChange(field.name) { fetch.headers[field.name] = nil }
        // A service answers 406 if it doesn't have its root in the media type of the change's answer, such as a batch's.
        fetch.headers[.accept] = "*/*"
        fetch.headers[CSRFToken.header] = CSRFToken.fetch
        fetch.deadline = request.deadline
        fetch.trust = request.trust
        fetch.identity = request.identity
        let response = try await next(fetch, context)
        response.body.cancel()
        guard let value = response.headers[CSRFToken.header], value.lowercased() != "required", (200..<300).contains(response.status) else {
            throw CSRFProtectionError(status: response.status)
        }
        let cookies = response.headers[values: .setCookie].compactMap { field in
            field.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return CSRFToken(value: value, cookies: cookies.filter { $0.contains("=") })
    }

    /// Returns whether a field describes the change itself: its body, its condition or its real method.
    private static func belongsToChange(_ name: HTTPFields.Name) -> Bool {
        name.canonicalName.hasPrefix("content-") || changeFields.contains(name)
    }

    private static let changeFields: Set<HTTPFields.Name> = [
        "Expect", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Idempotency-Key", "MIME-Version", "Prefer",
        "Slug", "X-HTTP-Method", Repeatability.requestID, Repeatability.firstSent,
    ]
}

extension CSRFProtection: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL of the token, with user info and secret parameters masked.
    public var description: String { "CSRF protection by \(method) \(SecretMask.text(of: url))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, so that a dump doesn't show the token.
    public var customMirror: Mirror { Mirror(self, children: ["url": SecretMask.text(of: url), "method": method]) }
}

/// An error thrown when the service returns no token to ``CSRFProtection``.
public struct CSRFProtectionError: DescribedError, Sendable, Hashable {
    /// The status of the service's answer.
    public let status: Int

    /// A sentence for people.
    public var description: String {
        "The service answered the request for a CSRF token with status \(status) and no token. Check the URL, including its "
            + "trailing slash, and the credentials."
    }
}

/// A token with the cookies of its session.
struct CSRFToken: Sendable, Equatable {
    static let header: HTTPFields.Name = "X-CSRF-Token"
    /// The value of the field in a request for a token.
    static let fetch = "Fetch"

    static func isFetched(by request: ServiceRequest) -> Bool { request.headers[header] == fetch }

    let value: String
    let cookies: [String]

    func added(to request: ServiceRequest) -> ServiceRequest {
        var request = request
        request.headers[Self.header] = value
        if !cookies.isEmpty {
            request.headers[.cookie] = ([request.headers[.cookie]].compactMap(\.self) + cookies).joined(separator: "; ")
        }
        return request
    }

    /// Returns an error with the remedy in its message if the service refused a change because of its token. Only such refusals have the
    /// token's field, whose value is masked in errors.
    static func explained(_ error: ServiceError) -> ServiceError {
        guard error.stage == .status, error.status == 403, error.response?.headers.contains(header) == true else { return error }
        var error = error
        error.message +=
            error.request?.headers.contains(header) == true
            ? " The service refused the CSRF token. A change is sent again with a new token only if its body can be read again; if that "
                + "isn't the reason, check that the session's cookies reach the service."
            : " The service refuses changes without a CSRF token: add CSRFProtection to the client's interceptors, with the URL of the "
                + "service root."
        return error
    }
}

extension CSRFToken: CustomStringConvertible, CustomReflectable {
    /// A fixed text, which doesn't contain the token.
    var description: String { "a CSRF token" }

    /// Shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The token that the calls of a client share. One call fetches it, and the others wait.
final class CSRFTokenCache: Sendable {
    private enum State {
        case none
        case fetching([CallWaiter])
        case token(CSRFToken)
    }

    private enum Turn {
        case use(CSRFToken)
        case fetch
        case wait(CallWaiter)
    }

    private let state = Locked(State.none)

    /// Returns the token; the first caller fetches it. If the fetch fails, all waiting callers throw the error. If the fetching call ends
    /// for a reason of its own, by a cancellation or its deadline, another caller fetches.
    ///
    /// - Throws: The error of the fetch; ``CallCancelled`` or `CancellationError` if this call or its task is cancelled.
    func token(unless cancellation: CallCancellation, _ fetch: () async throws -> CSRFToken) async throws -> CSRFToken {
        while true {
            try Task.checkCancellation()
            switch state.withLock({ Self.turn(&$0) }) {
            case .use(let token): return token
            case .wait(let waiter): try await waiter.wait(unless: cancellation)
            case .fetch:
                do {
                    let token = try await fetch()
                    finish(.token(token), .success(()))
                    return token
                } catch {
                    let concernsOneCall = Task.isCancelled || cancellation.cause != nil || Self.endsOneCall(error)
                    finish(.none, concernsOneCall ? .success(()) : .failure(error))
                    throw error
                }
            }
        }
    }

    private static func turn(_ state: inout State) -> Turn {
        switch state {
        case .token(let token):
            return .use(token)
        case .none:
            state = .fetching([])
            return .fetch
        case .fetching(var waiters):
            let waiter = CallWaiter()
            // Otherwise the state would share the list, and each waiting call would copy it.
            state = .none
            waiters.append(waiter)
            state = .fetching(waiters)
            return .wait(waiter)
        }
    }

    /// Returns whether an error concerns only the call that fetches: its cancellation or its deadline.
    private static func endsOneCall(_ error: any Error) -> Bool {
        error is CancellationError || error is CallCancelled || (error as? TransportError)?.code == .timedOutTotal
    }

    /// Discards a rejected token, unless it was already replaced.
    func discard(_ token: CSRFToken) {
        state.withLock { state in
            if case .token(token) = state { state = .none }
        }
    }

    private func finish(_ result: State, _ end: Result<Void, any Error>) {
        let waiters = state.withLock { state in
            defer { state = result }
            if case .fetching(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.end(end) }
    }
}
