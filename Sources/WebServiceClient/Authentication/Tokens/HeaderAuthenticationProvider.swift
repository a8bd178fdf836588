/// Authenticates by a service-specific header field, such as an API key.
///
///     $0.authenticationProvider = HeaderAuthenticationProvider("X-Api-Key", value: key)
///     $0.authenticationProvider = HeaderAuthenticationProvider("X-Tableau-Auth") { refused in
///         try await sessions.token(after: refused)
///     }
///
/// The field is sent only to the service's origin, even if a redirect, a link or an interceptor leads to another origin. Errors and
/// descriptions never show its value.
public struct HeaderAuthenticationProvider: AuthenticationProvider {
    /// Returns the value of the field for a request.
    ///
    /// - Parameter refused: The value that the server has just refused with 401; `nil` otherwise.
    public typealias Value = @Sendable (_ refused: String?) async throws -> String

    private let name: HTTPFields.Name?
    private let prefix: String
    private let value: Value
    /// Whether the closure may return another value after a refusal.
    private let changes: Bool
    private let isOpened = Locked(false)

    /// Creates a provider with a fixed value.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The field's value; CR, LF or NUL in it causes an ``AuthenticationError`` in the first call.
    public init(_ name: HTTPFields.Name, value: String) {
        self.init(name: name, prefix: "", changes: false) { _ in value }
    }

    /// Creates a provider that requests the value before each request, and again if the server refuses it.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: Returns the current value. Many calls use it concurrently, so it should cache the value until it expires. After a 401
    ///     it gets the refused value; if it returns another one, the call is sent once more. An error that it throws ends the call.
    public init(_ name: HTTPFields.Name, value: @escaping Value) {
        self.init(name: name, prefix: "", changes: true, value: value)
    }

    /// - Parameter name: The field's name; `nil` for the target's credentials field, `Authorization` or `Proxy-Authorization`.
    init(name: HTTPFields.Name?, prefix: String, changes: Bool, value: @escaping Value) {
        self.name = name
        self.prefix = prefix
        self.changes = changes
        self.value = value
    }

    /// The value that an attempt was sent with.
    private struct Sent: Sendable {
        let value: String
        let isSecond: Bool
    }

    /// Adds the field.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        try add(try await value(nil), isSecond: false, to: &attempt)
    }

    /// Requests another value once.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        isOpened.withLock { $0 = false }
        guard changes, let sent = attempt.memo as? Sent, !sent.isSecond, attempt.canRepeat else { return false }
        let fresh = try await value(sent.value)
        guard fresh != sent.value else { return false }
        try add(fresh, isSecond: true, to: &attempt)
        return true
    }

    /// Records that the server accepted the value.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        isOpened.withLock { $0 = true }
        return response
    }

    /// Whether the server accepted the last value.
    public var isSessionOpened: Bool { isOpened.withLock { $0 } }

    /// Forgets that the server accepted the value. The closure may still cache a value.
    public func invalidate() async {
        isOpened.withLock { $0 = false }
    }

    private func add(_ value: String, isSecond: Bool, to attempt: inout AuthenticationAttempt) throws {
        let name = name ?? attempt.target.credentialsField
        guard HTTPFields.Field(name: name, value: prefix + value).isValid else {
            throw AuthenticationError(
                .unusableToken,
                message:
                    "The value for \(name) has CR, LF or NUL, or the name isn't a token: often the value ends with a line break."
            )
        }
        attempt.request.headers[name] = prefix + value
        attempt.memo = Sent(value: value, isSecond: isSecond)
    }
}

extension HeaderAuthenticationProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field's name, without its value.
    public var description: String { "authentication by \(name?.rawName ?? "a token")" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Authenticates by a bearer token (RFC 6750): `Authorization: Bearer …`.
///
///     $0.authenticationProvider = BearerAuthenticationProvider(token: token)
///     $0.authenticationProvider = BearerAuthenticationProvider { refused in try await tokens.current(after: refused) }
///
/// The token is sent only to the service's origin, even if a redirect, a link or an interceptor leads to another origin. Errors and
/// descriptions never show it.
public struct BearerAuthenticationProvider: AuthenticationProvider {
    private let provider: HeaderAuthenticationProvider

    /// Creates a provider with a fixed token.
    ///
    /// - Parameter token: The token; CR, LF or NUL in it causes an ``AuthenticationError`` in the first call.
    public init(token: String) {
        provider = HeaderAuthenticationProvider(name: nil, prefix: "Bearer ", changes: false) { _ in token }
    }

    /// Creates a provider that requests the token before each request, and again if the server refuses it.
    ///
    /// - Parameter token: Returns the current token. Many calls use it concurrently, so it should cache the token until it expires. After
    ///   a 401 it gets the refused token; if it returns another one, the call is sent once more. An error that it throws ends the call.
    public init(_ token: @escaping HeaderAuthenticationProvider.Value) {
        provider = HeaderAuthenticationProvider(name: nil, prefix: "Bearer ", changes: true, value: token)
    }

    /// Adds the token.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        try await provider.authorize(&attempt, context: context)
    }

    /// Requests another token once.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        try await provider.respond(to: challenges, response: response, attempt: &attempt, context: context)
    }

    /// Records that the server accepted the token.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        try await provider.check(response, attempt: attempt, context: context)
    }

    /// Whether the server accepted the last token.
    public var isSessionOpened: Bool { provider.isSessionOpened }

    /// Forgets that the server accepted the token.
    public func invalidate() async { await provider.invalidate() }
}

extension BearerAuthenticationProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the token.
    public var description: String { "Bearer authentication" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
