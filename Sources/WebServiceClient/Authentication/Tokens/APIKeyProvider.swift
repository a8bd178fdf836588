import Foundation

/// Authenticates by a key in a header field, a query item or a cookie.
///
///     $0.authenticationProvider = APIKeyProvider(header: "X-Api-Key", key: key)
///     $0.authenticationProvider = APIKeyProvider(query: "api_key", key: key)
///     $0.authenticationProvider = APIKeyProvider(header: "X-Tableau-Auth") { refused in
///         try await sessions.token(after: refused)
///     }
///
/// The key is sent only to the service's origin, even if a redirect, a link or an interceptor leads to another origin. Errors, responses
/// and descriptions never show it; the URL of a response doesn't contain it. Prefer a header: servers and proxies log URLs.
public struct APIKeyProvider: AuthenticationProvider {
    /// Returns the key for a request.
    ///
    /// - Parameter refused: The key that the server has just refused with 401; `nil` otherwise.
    public typealias Key = @Sendable (_ refused: String?) async throws -> String

    /// The place of the key in a request.
    private enum Place: Sendable {
        case header(HTTPFields.Name)
        case query(String)
        case cookie(String)
    }

    private let place: Place
    private let key: Key
    /// Whether the closure may return another key after a refusal.
    private let changes: Bool
    private let isOpened = Locked(false)

    private init(_ place: Place, changes: Bool, _ key: @escaping Key) {
        self.place = place
        self.changes = changes
        self.key = key
    }

    /// Creates a provider for a fixed key in a header field.
    ///
    /// - Parameters:
    ///   - header: The field's name.
    ///   - key: The key; CR, LF or NUL in it causes an ``AuthenticationError`` in the first call.
    public init(header: HTTPFields.Name, key: String) {
        self.init(.header(header), changes: false) { _ in key }
    }

    /// Creates a provider that requests the key before each request, and again if the server refuses it.
    ///
    /// - Parameters:
    ///   - header: The field's name.
    ///   - key: Returns the current key. Many calls use it concurrently, so it should cache the key. After a 401 it gets the refused key;
    ///     if
    ///     it returns another one, the call is sent once more. An error that it throws ends the call.
    public init(header: HTTPFields.Name, key: @escaping Key) {
        self.init(.header(header), changes: true, key)
    }

    /// Creates a provider for a fixed key in a query item.
    ///
    /// - Parameters:
    ///   - query: The item's name. An item with this name in the call's URL is replaced.
    ///   - key: The key. It is percent-encoded.
    public init(query: String, key: String) {
        self.init(.query(query), changes: false) { _ in key }
    }

    /// Creates a provider that requests the key for a query item before each request, and again if the server refuses it.
    ///
    /// - Parameters:
    ///   - query: The item's name. An item with this name in the call's URL is replaced.
    ///   - key: Returns the current key, as in ``init(header:key:)-(_,Key)``.
    public init(query: String, key: @escaping Key) {
        self.init(.query(query), changes: true, key)
    }

    /// Creates a provider for a fixed key in a cookie.
    ///
    /// - Parameters:
    ///   - cookie: The cookie's name. A cookie of this name in the request is replaced, others stay.
    ///   - key: The key; `;`, CR, LF or NUL in it causes an ``AuthenticationError`` in the first call.
    public init(cookie: String, key: String) {
        self.init(.cookie(cookie), changes: false) { _ in key }
    }

    /// The key that an attempt was sent with.
    private struct Sent: Sendable {
        let key: String
        let isSecond: Bool
    }

    /// Adds the key.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        let isSecond = (attempt.memo as? Sent)?.isSecond ?? false
        try add(try await key(nil), isSecond: isSecond, to: &attempt)
    }

    /// Requests another key once.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        isOpened.withLock { $0 = false }
        guard changes, let sent = attempt.memo as? Sent, !sent.isSecond, attempt.canRepeat else { return false }
        let fresh = try await key(sent.key)
        guard fresh != sent.key else { return false }
        try add(fresh, isSecond: true, to: &attempt)
        return true
    }

    /// Records that the server accepted the key.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        isOpened.withLock { $0 = true }
        return response
    }

    /// Whether the server accepted the last key.
    public var isSessionOpened: Bool { isOpened.withLock { $0 } }

    /// Forgets that the server accepted the key. The closure may still cache a key.
    public func invalidate() async {
        isOpened.withLock { $0 = false }
    }

    private func add(_ key: String, isSecond: Bool, to attempt: inout AuthenticationAttempt) throws {
        // The service may repeat the key, and not every name marks its value as secret.
        attempt.mask(key)
        switch place {
        case .header(let name):
            guard HTTPFields.Field(name: name, value: key).isValid else {
                throw AuthenticationError(
                    .unusableToken,
                    message: "The value for \(name) has CR, LF or NUL, or the name isn't a token. Often the value ends with a line break.")
            }
            attempt.request.headers[name] = key
        case .query(let name):
            // A tunnel's request has no query.
            guard !attempt.isForTunnel else { return }
            attempt.request.url = try Self.url(attempt.request.url, with: name, key)
        case .cookie(let name):
            let field = HTTPFields.Field(name: "Cookie", value: "\(name)=\(key)")
            guard HTTPFields.Name.isToken(name), field.isValid, !key.utf8.contains(UInt8(ascii: ";")) else {
                throw AuthenticationError(
                    .unusableToken,
                    message:
                        "The key for the cookie \(name) has characters that a cookie can't have, or the name isn't a token: give another "
                        + "one.")
            }
            attempt.request.headers.addCookie(field.value, replacing: name)
        }
        attempt.memo = Sent(key: key, isSecond: isSecond)
    }

    /// Returns a URL whose query has the item once, at the end. The other items don't change.
    private static func url(_ url: URL, with name: String, _ key: String) throws -> URL {
        var items = URLQueryItems(of: url)
        items.move(name, toEndWith: key)
        guard !name.isEmpty, let url = items.replacingQuery(of: url) else {
            throw AuthenticationError(.unusableToken, message: "The API key can't be added to the URL: check the query item's name.")
        }
        return url
    }
}

extension APIKeyProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The place of the key, without its value.
    public var description: String {
        switch place {
        case .header(let name): "authentication by \(name.rawName)"
        case .query(let name): "authentication by the query item \(name)"
        case .cookie(let name): "authentication by the cookie \(name)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
