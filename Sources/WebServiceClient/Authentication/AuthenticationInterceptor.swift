/// The authentication stage of the chain: it requests credentials from an ``AuthenticationProvider`` and answers challenges.
///
/// * The provider is called only for requests to the service root's origin (``CallContext/serviceOrigin``) and to the client's allowed
///   origins, and not for calls marked as foreign: credentials are never sent to other origins, and their 401 is never answered. A
///   provider that changes the request's origin ends the call.
/// * The proxy's provider is called for `http` URLs, which a proxy sees in the clear. For `https` URLs it is called only if the transport
///   opens tunnels with the credentials and distinguishes a proxy's refusal from the server's
///   (``TransportCapabilities/proxyAuthentication``): inside the tunnel both the request and a 407 are the server's.
/// * Credentials replace an existing `Authorization` field, since this stage is the last to change a request. A provider without
///   credentials leaves the field unchanged.
/// * If a provider puts credentials into the URL, the response has the URL without them.
/// * A refused request is repeated at most three times, and only if its body can be sent again; otherwise the caller gets the refusal.
public struct AuthenticationInterceptor: Interceptor {
    /// The maximum number of times that a refused request is sent again, for challenges of server and proxy together.
    public static let maximumRounds = 3

    /// The maximum number of bytes of a refusal's body that are read to reuse its connection. A longer transfer is cancelled.
    static let drainLimit = 64 * 1024

    private let provider: (any AuthenticationProvider)?
    private let proxyProvider: (any AuthenticationProvider)?
    private let opensTunnels: Bool
    /// The origins of the service.
    var boundary = OriginBoundary()

    /// Creates a stage with a provider for the service, one for a proxy, or both.
    ///
    /// - Parameter opensTunnels: Whether the transport has the capability ``TransportCapabilities/proxyAuthentication``.
    public init(_ provider: (any AuthenticationProvider)?, proxy: (any AuthenticationProvider)? = nil, opensTunnels: Bool = false) {
        self.provider = provider
        proxyProvider = proxy
        self.opensTunnels = opensTunnels
    }

    /// A provider that applies to this request, with its attempt.
    private struct Party {
        let provider: any AuthenticationProvider
        var attempt: AuthenticationAttempt
    }

    /// Authorizes the request, sends it, and answers challenges.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var parties = parties(for: request, context)
        guard !parties.isEmpty else { return try await next(request, context) }
        var request = request
        var context = context
        let url = request.url
        /// The index of the party whose answer to a challenge is already in the request.
        var answering: Int?
        var rounds = 0
        while true {
            for index in parties.indices where index != answering {
                parties[index].attempt.request = request
                do {
                    try await parties[index].provider.authorize(&parties[index].attempt, context: context)
                } catch {
                    context.record.noteProviderFailure()
                    throw error
                }
                let prepared = parties[index].attempt.request
                let isSameURL = prepared.url == request.url
                guard isSameURL || prepared.origin == request.origin else {
                    throw AuthenticationError(
                        .otherOrigin,
                        message: "The authentication provider changed the URL to \(prepared.origin?.description ?? "no origin"): "
                            + "credentials must not leave the origin that they are for. Don't change the URL.")
                }
                if !isSameURL { context.shownURL = context.shownURL ?? url }
                request = prepared
            }
            let answer = try await next(request, context)
            let refusing = parties.firstIndex { Self.refuses(answer, $0) }
            let response = try await checked(answer, by: parties, context)
            guard let refusing, rounds < Self.maximumRounds else { return response }
            parties[refusing].attempt.request = request
            guard try await mayRepeat(after: response, &parties[refusing], context) else { return response }
            rounds += 1
            let repeated = parties[refusing].attempt.request
            let isSameURL = repeated.url == request.url
            guard isSameURL || repeated.origin == request.origin else { return response }
            if !isSameURL { context.shownURL = context.shownURL ?? url }
            request = repeated
            answering = refusing
            await discard(response.body)
            try Task.checkCancellation()
        }
    }

    private func parties(for request: ServiceRequest, _ context: CallContext) -> [Party] {
        guard let origin = request.origin else { return [] }
        var parties: [Party] = []
        if let proxyProvider, origin.scheme == "http" || opensTunnels {
            parties.append(Party(provider: proxyProvider, attempt: AuthenticationAttempt(request: request, target: .proxy)))
        }
        if let provider, boundary.isService(origin, context) {
            parties.append(Party(provider: provider, attempt: AuthenticationAttempt(request: request, target: .origin)))
        }
        return parties
    }

    /// Whether a response refuses an attempt. Through a tunnel, only the refusal of the tunnel is the proxy's.
    private static func refuses(_ response: TransportResponse, _ party: Party) -> Bool {
        (!party.attempt.isForTunnel || response.isTunnelRefusal) && party.provider.isRefusal(response, of: party.attempt)
    }

    /// Passes the response to the providers that it doesn't refuse. A proxy's refusal implies nothing about the server; a server's
    /// refusal implies that the proxy accepted its credentials.
    private func checked(_ response: TransportResponse, by parties: [Party], _ context: CallContext) async throws -> TransportResponse {
        guard response.status != AuthenticationTarget.proxy.status else { return response }
        var response = response
        do {
            // A response through a tunnel isn't the proxy's.
            for party in parties where !party.attempt.isForTunnel && !party.provider.isRefusal(response, of: party.attempt) {
                response = try await party.provider.check(response, attempt: party.attempt, context: context)
            }
        } catch {
            response.body.cancel()
            context.record.noteProviderFailure()
            throw error
        }
        return response
    }

    /// Lets the provider process the refusal and answer it.
    private func mayRepeat(after response: TransportResponse, _ party: inout Party, _ context: CallContext) async throws -> Bool {
        let challenges = AuthenticationChallenge.challenges(inBytes: response.headers.bytes(of: party.attempt.target.challengeField))
        let wantsToRepeat: Bool
        do {
            wantsToRepeat = try await party.provider.respond(
                to: challenges, response: response, attempt: &party.attempt, context: context)
        } catch {
            response.body.cancel()
            context.record.noteProviderFailure()
            throw error
        }
        party.attempt.round += 1
        guard !party.attempt.canRepeat else { return wantsToRepeat }
        context.diagnostics.report(
            .init(
                .warning,
                """
                The server answered \(response.status), but the request wasn't repeated with credentials, since its body can be read only \
                once: create the body from Data, from a file or from a replayable stream.
                """, call: context.identity))
        return false
    }

    private func discard(_ body: ResponseBody) async {
        if let length = body.expectedLength, length > Int64(Self.drainLimit) {
            body.cancel()
        } else {
            // Errors are ignored: if the body ends early or is too long, only its connection is lost.
            _ = try? await body.collect(upTo: Self.drainLimit)
        }
    }
}

extension AuthenticationInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The stage's name, without credentials.
    public var description: String { "authentication" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the providers, which hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
