/// The stage of the chain that authenticates: it asks an ``AuthenticationProvider`` for credentials and answers challenges.
///
/// * The provider is asked only for requests to the service root's origin (``CallContext/serviceOrigin``) and to the client's allowed
///   origins, and not for calls marked as foreign: credentials never go anywhere else, and nobody else's 401 is answered. A provider
///   that changes the request's origin ends the call.
/// * The proxy's provider is asked for `http` URLs, which a proxy sees in the clear. For an `https` URL it is asked only where the
///   transport opens tunnels with the credentials and tells a proxy's refusal from the server's
///   (``TransportCapabilities/proxyAuthentication``): inside the tunnel both the request and a 407 are the server's.
/// * Credentials replace an `Authorization` field that was set before: this stage is the last to touch a request, and wins. A provider
///   that has no credentials yet leaves such a field as it is.
/// * A refused request is repeated at most three times, and only if its body can be sent again; else the refusal is delivered.
public struct AuthenticationInterceptor: Interceptor {
    /// How often a refused request is sent again at most, challenges of server and proxy counted together.
    public static let maximumRounds = 3

    /// The most bytes of a refusal's body that are read so that its connection can be used again. Of a longer one the transfer is cancelled.
    static let drainLimit = 64 * 1024

    private let provider: (any AuthenticationProvider)?
    private let proxyProvider: (any AuthenticationProvider)?
    private let opensTunnels: Bool
    /// What knows the origins of the service.
    var boundary = OriginBoundary()

    /// A stage with a provider for the service, one for a proxy, or both.
    ///
    /// - Parameter opensTunnels: whether the transport is capable of ``TransportCapabilities/proxyAuthentication``.
    public init(_ provider: (any AuthenticationProvider)?, proxy: (any AuthenticationProvider)? = nil, opensTunnels: Bool = false) {
        self.provider = provider
        proxyProvider = proxy
        self.opensTunnels = opensTunnels
    }

    /// A provider that is asked for this request, and what it sees of it.
    private struct Party {
        let provider: any AuthenticationProvider
        var attempt: AuthenticationAttempt
    }

    /// Authorizes the request, sends it, and answers challenges.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var parties = parties(for: request, context)
        guard !parties.isEmpty else { return try await next(request, context) }
        var request = request
        /// The party whose answer to a challenge is already in the request.
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
                guard prepared.url == request.url || prepared.origin == request.origin else {
                    throw AuthenticationError(
                        .otherOrigin,
                        message: "The authentication provider changed the URL to \(prepared.origin?.description ?? "no origin"): "
                            + "credentials stay with the origin that they were asked for. Leave the URL as it is.")
                }
                request = prepared
            }
            let answer = try await next(request, context)
            let refusing = parties.firstIndex { Self.refuses(answer, $0.attempt) }
            let response = try await checked(answer, by: parties, context)
            guard let refusing, rounds < Self.maximumRounds else { return response }
            parties[refusing].attempt.request = request
            guard try await mayRepeat(after: response, &parties[refusing], context) else { return response }
            rounds += 1
            let repeated = parties[refusing].attempt.request
            guard repeated.url == request.url || repeated.origin == request.origin else { return response }
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

    /// Whether a response is a refusal of an attempt. Through a tunnel only the refusal of the tunnel is the proxy's.
    private static func refuses(_ response: TransportResponse, _ attempt: AuthenticationAttempt) -> Bool {
        attempt.target.status == response.status && (!attempt.isForTunnel || response.isTunnelRefusal)
    }

    /// Shows the response to the providers that it doesn't refuse. A proxy's refusal says nothing about the server; a server's says that
    /// the proxy was content.
    private func checked(_ response: TransportResponse, by parties: [Party], _ context: CallContext) async throws -> TransportResponse {
        guard response.status != AuthenticationTarget.proxy.status else { return response }
        var response = response
        do {
            // What comes through a tunnel isn't the proxy's.
            for party in parties where party.attempt.target.status != response.status && !party.attempt.isForTunnel {
                response = try await party.provider.check(response, attempt: party.attempt, context: context)
            }
        } catch {
            response.body.cancel()
            context.record.noteProviderFailure()
            throw error
        }
        return response
    }

    /// Lets the provider learn from the refusal and answer it.
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
                The server answered \(response.status), and the request wasn't repeated with credentials since its body can be read only \
                once: make the body from Data, from a file or from a replayable stream.
                """, call: context.identity))
        return false
    }

    private func discard(_ body: ResponseBody) async {
        if let length = body.expectedLength, length > Int64(Self.drainLimit) {
            body.cancel()
        } else {
            // A body that breaks off, or is longer than it should be, is of no use to anybody: only its connection is lost.
            _ = try? await body.collect(upTo: Self.drainLimit)
        }
    }
}

extension AuthenticationInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The stage's name; credentials are never part of it.
    public var description: String { "authentication" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows nothing: the providers hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
