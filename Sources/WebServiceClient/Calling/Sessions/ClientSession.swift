public import Foundation

extension WebServiceClient {
    /// The client's session: headers and query items that it adds to each request of its service.
    ///
    ///     try shop.session.update {
    ///         $0.headers["X-Session"] = login.id
    ///         $0.secretHeaders = ["X-Session"]
    ///         $0[query: "tenant"] = "5"
    ///     }
    public var session: ClientSession { ClientSession(client: self) }
}

/// The session of a client: ``WebServiceClient/WebServiceClient/session``.
///
/// * Its items are added to the requests of the service root's origin and of the allowed origins, redirects included, and never to others.
/// * Precedence of headers: library < client < session < class < endpoint < call. Query items are added last, if the request has none of
///   the same name.
/// * A session belongs to the service: to the environment and the origin of the service root. When one of them changes, the client uses
///   another session; when it changes back, the client uses the old session again.
/// * A change applies to later calls. Calls in flight keep their session, for redirects and retries too.
/// * Secret items are credentials: descriptions mask them, and a call never uses a cached response or a shared exchange of a session with
///   other secrets or query items.
public struct ClientSession: Sendable {
    /// The parts that ``save(to:including:)`` writes in addition to the items that aren't secret.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int
        /// Creates parts from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The secret headers and query items.
        public static let secrets = Parts(rawValue: 1)
        /// The realms and nonces of the authentication providers' challenges, so that the first call after a restart needs no 401.
        public static let challenges = Parts(rawValue: 2)
    }

    let client: WebServiceClient

    /// The current items. ``update(_:)`` changes them.
    public var state: SessionState { client.state.session }

    /// Changes the session atomically for later calls. The closure runs again if the client changes at the same time.
    ///
    /// Each change prepares all endpoints again, as ``WebServiceClient/WebServiceClient/configure(_:)`` does: for a value that changes with
    /// each call, use an ``Interceptor``.
    ///
    /// - Throws: ``SessionError`` if an item can't be sent, or the closure's error. The session is unchanged then.
    public func update(_ change: (inout SessionState) throws -> Void) throws {
        while true {
            let state = client.state
            var session = state.session
            try change(&session)
            guard session != state.session else { return }
            if let problem = session.problem {
                throw SessionError(message: "The session of \(state.clientName) can't be used: \(problem).")
            }
            if client.replaceSession(session, of: state) { return }
        }
    }

    /// Removes all items, for example after signing out. Challenges and cookies remain.
    public func clear() {
        try? update { $0 = SessionState() }
    }

    /// Writes the session to a file, as JSON with a version.
    ///
    /// Only the process's user can read the file (mode 0600). It is replaced atomically: after a crash it has the previous session or the
    /// new one. Missing folders are created with the mode 0700.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - parts: The parts to write in addition to the items that aren't secret. Default: none.
    /// - Returns: The names of the secret items that weren't written, sorted.
    /// - Throws: ``SessionError`` if the file can't be written. Its previous content is kept.
    @discardableResult
    public func save(to file: URL, including parts: Parts = []) throws -> [String] {
        let state = client.state
        var session = state.session
        // The client's rules name secrets too.
        session.secretHeaders.formUnion(session.headers.map(\.name).filter(state.configuration.headerRules.secret.contains))
        let kept = parts.contains(.secrets) ? session : session.withoutSecrets
        let challenges = parts.contains(.challenges) ? state.preservedChallenges : nil
        let written = SessionFile(
            origin: state.place.origin?.description, environment: state.place.environment, session: kept,
            challenges: challenges?.isEmpty == false ? challenges : nil)
        do {
            try PrivateFile(file).replace(with: written.data())
        } catch let failure as PrivateFile.Failure {
            throw SessionError(message: "The session file \(file.lastPathComponent) \(failure.reason)")
        } catch {
            throw SessionError(message: "The session can't be written to \(file.lastPathComponent): \(DecodingErrorText.text(of: error)).")
        }
        let names = session.headers.map(\.name.rawName) + session.query.map(\.name)
        let keptNames = Set(kept.headers.map(\.name.rawName) + kept.query.map(\.name))
        return Set(names).subtracting(keptNames).sorted()
    }

    /// Replaces the session with the one in a file, and gives the authentication providers the challenges in it.
    ///
    /// - Returns: Whether the file exists. If it doesn't, nothing changes.
    /// - Throws: ``SessionError``, which names the file, if it is damaged, isn't private, has a later version, or belongs to another
    ///   service or environment. Nothing changes then.
    @discardableResult
    public func load(from file: URL) throws -> Bool {
        let name = file.lastPathComponent
        let data: Data
        do {
            guard let content = try PrivateFile(file).read() else { return false }
            data = content
        } catch {
            throw SessionError(message: "The session file \(name) \(error.reason)")
        }
        let read = try SessionFile(data, name: name)
        while true {
            let state = client.state
            guard read.origin == state.place.origin?.description, read.environment == state.place.environment else {
                throw SessionError(
                    message:
                        "The session file \(name) belongs to \(read.place), and the client's service is \(state.place): use a file for "
                        + "each service and environment.")
            }
            guard read.session == state.session || client.replaceSession(read.session, of: state) else { continue }
            if let challenges = read.challenges { state.restore(challenges) }
            return true
        }
    }
}

/// The content of a session's file.
struct SessionFile: Codable {
    static let currentVersion = 1

    var version = currentVersion
    /// The origin of the service; `nil` if its host is an argument, or the client has no service root.
    var origin: String?
    /// The environment's name; `nil` without environments.
    var environment: String?
    var session: SessionState
    /// The challenges of the service and of the proxy; `nil` if they weren't asked for, or there are none.
    var challenges: PreservedChallenges?

    private struct Version: Decodable {
        var version: Int
    }

    init(origin: String?, environment: String?, session: SessionState, challenges: PreservedChallenges?) {
        self.origin = origin
        self.environment = environment
        self.session = session
        self.challenges = challenges
    }

    /// Reads a file's content.
    ///
    /// - Throws: ``SessionError``.
    init(_ data: Data, name: String) throws {
        let decoder = JSONDecoder()
        do {
            // A later version may have another form, so its number is read first.
            let version = try decoder.decode(Version.self, from: data).version
            guard version == Self.currentVersion else {
                throw SessionError(
                    message: "The session file \(name) has the version \(version), and this program reads version \(Self.currentVersion): "
                        + "remove the file, and sign in again.")
            }
            self = try decoder.decode(SessionFile.self, from: data)
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(
                message:
                    "The session file \(name) is damaged: \(SecretMask.text(DecodingErrorText.text(of: error))). Remove it, and sign in "
                    + "again.")
        }
    }

    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The service that the session belongs to.
    var place: ServicePlace { ServicePlace(environment: environment, origin: origin.flatMap { URL(string: $0) }.flatMap(Origin.init)) }
}

extension ClientState {
    /// The challenges that the authentication providers preserve: the service's provider those of origins, the proxy's provider those of
    /// proxies.
    fileprivate var preservedChallenges: PreservedChallenges {
        func entries(_ provider: (any AuthenticationProvider)?, ofProxy: Bool) -> [PreservedChallenges.Entry] {
            (provider as? any ChallengePreserving)?.preservedChallenges.entries.filter { ($0.origin == nil) == ofProxy } ?? []
        }
        return PreservedChallenges(
            entries(configuration.authenticationProvider, ofProxy: false)
                + entries(configuration.proxyAuthenticationProvider, ofProxy: true))
    }

    /// Gives the authentication providers preserved challenges.
    fileprivate func restore(_ challenges: PreservedChallenges) {
        let (ofProxy, ofService) = (challenges.entries.filter { $0.origin == nil }, challenges.entries.filter { $0.origin != nil })
        (configuration.authenticationProvider as? any ChallengePreserving)?.restore(PreservedChallenges(ofService))
        (configuration.proxyAuthenticationProvider as? any ChallengePreserving)?.restore(PreservedChallenges(ofProxy))
    }
}

/// An error of a client's session: an item that can't be sent, or a file that can't be read or written.
public struct SessionError: DescribedError, Sendable, Hashable {
    /// What happened and how to fix it, as a sentence. It names the file, not the folders, and no values.
    public let message: String

    init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}
