/// One sending of a request as an ``AuthenticationProvider`` sees it: from before it is authorized until its response's head is there.
public struct AuthenticationAttempt: Sendable {
    /// The request. Providers put their credentials into its ``AuthenticationTarget/credentialsField``.
    public var request: ServiceRequest

    /// Who is to be satisfied.
    public let target: AuthenticationTarget

    /// How many challenges of this target were answered in this call so far; 0 for the first sending.
    public internal(set) var round = 0

    /// Whatever the provider wants to know again when the response is there, such as which of its tokens was used. Only the provider
    /// reads and writes it; nil at the start of a call.
    public var memo: (any Sendable)?

    /// An attempt; the library makes one for each call and target, tests make their own.
    public init(request: ServiceRequest, target: AuthenticationTarget) {
        self.request = request
        self.target = target
    }

    /// Whether the request can be sent again: it has no body, or one that can be read again.
    public var canRepeat: Bool { request.body?.isReplayable ?? true }

    /// Whether the credentials are for a proxy's tunnel: it sees a request of its own (RFC 9110 §9.3.6), and nothing of this one.
    public var isForTunnel: Bool { target == .proxy && request.origin?.scheme == "https" }

    /// The method that whoever is to be satisfied sees.
    public var seenMethod: ServiceRequest.Method { isForTunnel ? "CONNECT" : request.method }

    /// What whoever is to be satisfied sees in the request line (RFC 9112 §3.2): path and query; for a proxy, the absolute URL, or the
    /// authority of a tunnel.
    public var seenTarget: String {
        guard target == .proxy, let origin = request.origin else { return request.target }
        guard isForTunnel else { return origin.description + request.target }
        return origin.host.contains(":") ? "[\(origin.host)]:\(origin.port)" : "\(origin.host):\(origin.port)"
    }

    /// What credentials are kept by: they are valid for one target of one origin.
    var scope: AuthenticationScope {
        AuthenticationScope(target: target, origin: request.origin)
    }
}

/// Whom credentials were accepted by. A proxy is the same one for every origin.
struct AuthenticationScope: Hashable, Sendable {
    let target: AuthenticationTarget
    let origin: Origin?

    init(target: AuthenticationTarget, origin: Origin?) {
        self.target = target
        self.origin = target == .proxy ? nil : origin
    }
}
