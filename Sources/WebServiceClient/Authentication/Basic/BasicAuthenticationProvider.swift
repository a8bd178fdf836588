import Foundation

/// Authenticates by unencrypted user name and password (RFC 7617). Use it with `https`, which protects them.
///
///     $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: password)
///
/// Name and password are sent in UTF-8 and normal form C, even if the server doesn't announce this charset, the only one that RFC 7617
/// defines. A name with a colon, or a control character in either, causes an ``AuthenticationError`` in the first call.
public final class BasicAuthenticationProvider: AuthenticationProvider {
    private struct State {
        /// The parties that accepted the credentials.
        var accepting: Set<AuthenticationScope> = []
        var isOpened = false
    }

    /// Marks that credentials were sent.
    private struct Sent: Sendable {}

    private let isPreemptive: Bool
    private let credentials: Result<String, AuthenticationError>
    private let state = Locked(State())
    /// A digest of the user's name and password.
    public let cacheIdentity: String?

    /// Creates a provider for one user.
    ///
    /// - Parameters:
    ///   - user: The user's name, without colon.
    ///   - password: The password.
    ///   - isPreemptive: Whether every request has the credentials from the first one on. Otherwise they are sent after the server's
    ///     first challenge and with every later request to it; its first request then costs an additional round trip.
    public init(user: String, password: String, isPreemptive: Bool = true) {
        self.isPreemptive = isPreemptive
        let user = UserCredentials(name: user, password: password)
        cacheIdentity = user.digest
        do throws(AuthenticationError) {
            credentials = .success(try BasicAuthorization.value(user: user))
        } catch {
            credentials = .failure(error)
        }
    }

    /// Adds the credentials, if they are preemptive or the server has accepted them before.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        let scope = attempt.scope
        guard isPreemptive || state.withLock({ $0.accepting.contains(scope) }) else { return }
        try addCredentials(&attempt)
    }

    /// Adds the credentials if the server asks for Basic and hasn't just refused them.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        let scope = attempt.scope
        state.withLock {
            $0.accepting.remove(scope)
            $0.isOpened = false
        }
        guard attempt.memo == nil, challenges.contains(where: { $0.isScheme("Basic") }), attempt.canRepeat else { return false }
        try addCredentials(&attempt)
        return true
    }

    /// Records that the credentials were accepted.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        guard attempt.memo is Sent else { return response }
        let scope = attempt.scope
        state.withLock {
            if $0.accepting.count >= DigestSessions.scopeLimit { $0.accepting.removeAll() }
            $0.accepting.insert(scope)
            $0.isOpened = true
        }
        return response
    }

    /// Whether the server accepted the credentials when it last received them.
    public var isSessionOpened: Bool { state.withLock { $0.isOpened } }

    /// Forgets which parties accepted the credentials. The credentials themselves are kept.
    public func invalidate() async {
        state.withLock { $0 = State() }
    }

    private func addCredentials(_ attempt: inout AuthenticationAttempt) throws {
        attempt.request.headers[attempt.target.credentialsField] = try credentials.get()
        attempt.memo = Sent()
    }
}

extension BasicAuthenticationProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without name and password.
    public var description: String { "Basic authentication (\(isPreemptive ? "sent unasked" : "sent when asked for"))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Writes the value of `Authorization` for Basic (RFC 7617 §2).
enum BasicAuthorization {
    /// The field's value, from the UTF-8 bytes of name and password in normal form C.
    /// - Throws: ``AuthenticationError`` if the name has a colon, or the name or password a control character.
    static func value(user: UserCredentials) throws(AuthenticationError) -> String {
        guard !user.name.utf8.contains(UInt8(ascii: ":")) else {
            throw AuthenticationError(
                .unusableUserName,
                message: """
                    The user name for Basic authentication has a colon, which the server would read as the start of the password: \
                    use a name without one.
                    """)
        }
        guard !hasControlCharacters(user.name) else {
            throw AuthenticationError(.unusableUserName, message: Self.controlCharacter(in: "user name"))
        }
        guard !hasControlCharacters(user.password) else {
            throw AuthenticationError(.unusablePassword, message: Self.controlCharacter(in: "password"))
        }
        return "Basic " + Data("\(user.name):\(user.password)".utf8).base64EncodedString()
    }

    private static func controlCharacter(in part: String) -> String {
        "The \(part) for Basic authentication has a control character (RFC 7617 §2): remove it; often it is a line break at the end."
    }

    /// RFC 7617 refers to the CTL of RFC 5234; this also covers the C1 controls.
    private static func hasControlCharacters(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
