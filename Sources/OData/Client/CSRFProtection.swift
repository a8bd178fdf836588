public import Foundation
public import WebServiceClient

/// An interceptor that adds the token that SAP services require with every change, against cross-site request forgery.
///
///     client.configure { $0.interceptors = [CSRFProtection(fetchingFrom: serviceRoot)] }
///
/// The token is fetched when the first change needs it, once for all waiting calls, with the cookies of its session. A change that is
/// refused because the token has expired (403, `X-CSRF-Token: Required`) is sent once more with a new token. Safe methods, and calls to
/// other origins, pass unchanged.
public struct CSRFProtection: Interceptor {
    private let url: URL
    private let method: ServiceRequest.Method
    private let session = CSRFSession()

    /// Creates a protection for the service at a URL.
    ///
    /// - Parameters:
    ///   - url: the URL that returns the token: the service root, with its trailing slash, since a redirect would lose the token.
    ///   - method: GET, or the cheaper HEAD for services that support it.
    public init(fetchingFrom url: URL, method: ServiceRequest.Method = .get) {
        self.url = url
        self.method = method
    }

    /// Adds the token and its cookies to changes.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard !request.method.isSafe, !context.isForeign, request.origin == Origin(url) else { return try await next(request, context) }
        let token = try await session.token { try await fetch(request, context, next) }
        let response = try await next(token.added(to: request), context)
        let demand = response.headers[CSRFToken.header]?.lowercased()
        guard response.status == 403, demand == "required", request.body?.isReplayable ?? true else { return response }
        response.body.cancel()
        session.discard(token)
        let fresh = try await session.token { try await fetch(request, context, next) }
        return try await next(fresh.added(to: request), context)
    }

    private func fetch(_ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor) async throws -> CSRFToken {
        var fetch = ServiceRequest(method: method, url: url, headers: request.headers, timeouts: request.timeouts)
        let own: [HTTPFields.Name] = [
            .contentType, .contentLength, "If-Match", "If-None-Match", "Prefer", Repeatability.requestID, Repeatability.firstSent,
        ]
        for name in own { fetch.headers[name] = nil }
        fetch.headers[CSRFToken.header] = "Fetch"
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
        "The service answered the request for a CSRF token with status \(status) and no token: check the URL it is fetched from, with its "
            + "trailing slash, and the credentials."
    }
}

/// A token with the cookies of its session.
struct CSRFToken: Sendable, Equatable {
    static let header: HTTPFields.Name = "X-CSRF-Token"

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
}

extension CSRFToken: CustomStringConvertible, CustomReflectable {
    /// Never the token itself.
    var description: String { "a CSRF token" }

    /// Shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The current token. One call fetches it, and the others wait.
final class CSRFSession: Sendable {
    private enum State {
        case none
        case fetching(waiting: [Int: CheckedContinuation<CSRFToken?, any Error>])
        case token(CSRFToken)
    }

    private enum Turn {
        case found(CSRFToken)
        case fetch
        case wait
    }

    private let state = Locked(State.none)
    private let numbers = Locked(0)

    /// Returns the token; the first caller fetches it. A failure is thrown to all waiting callers, but a cancellation only to the fetching
    /// one.
    func token(_ fetch: () async throws -> CSRFToken) async throws -> CSRFToken {
        while true {
            try Task.checkCancellation()
            let turn: Turn = state.withLock { state in
                switch state {
                case .token(let token): return .found(token)
                case .fetching: return .wait
                case .none:
                    state = .fetching(waiting: [:])
                    return .fetch
                }
            }
            switch turn {
            case .found(let token): return token
            case .wait: if let token = try await waited() { return token }
            case .fetch:
                do {
                    let token = try await fetch()
                    finish(.token(token)) { $0.resume(returning: token) }
                    return token
                } catch {
                    let isOwn = error is CancellationError || Task.isCancelled
                    finish(.none) { isOwn ? $0.resume(returning: nil) : $0.resume(throwing: error) }
                    throw error
                }
            }
        }
    }

    /// Discards a rejected token, unless it was already replaced.
    func discard(_ token: CSRFToken) {
        state.withLock { state in
            if case .token(token) = state { state = .none }
        }
    }

    private func finish(_ result: State, _ resume: (CheckedContinuation<CSRFToken?, any Error>) -> Void) {
        let waiting = state.withLock { state in
            defer { state = result }
            if case .fetching(let waiting) = state { return Array(waiting.values) }
            return []
        }
        for continuation in waiting { resume(continuation) }
    }

    /// Returns the token that another caller fetches, or `nil` if the fetch must be repeated or this task was cancelled.
    private func waited() async throws -> CSRFToken? {
        let number = numbers.withLock { number in
            number += 1
            return number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !Task.isCancelled, case .fetching(var waiting) = state else { return false }
                    waiting[number] = continuation
                    state = .fetching(waiting: waiting)
                    return true
                }
                if !isWaiting { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<CSRFToken?, any Error>? in
                guard case .fetching(var waiting) = state else { return nil }
                let continuation = waiting.removeValue(forKey: number)
                state = .fetching(waiting: waiting)
                return continuation
            }
            continuation?.resume(returning: nil)
        }
    }
}
