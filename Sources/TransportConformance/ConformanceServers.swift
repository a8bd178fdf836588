public import Foundation
public import WebServiceClient
import WebServiceTesting

/// The servers that a ``LoopbackServer`` can't be: they speak TLS, and are other people's. Given to a ``TransportConformance``, its cases on
/// trust, client certificates, HTTP/2 and tunnels are run against them; a case without its server is skipped by name.
///
///     var servers = ConformanceServers(secure: url, chain: [leaf, intermediate, root], otherAuthority: other)
///     servers.expired = URL(string: "https://127.0.0.1:8444/")
///     let suite = TransportConformance(servers: servers) { MyTransport() }
///
/// Each URL of a server is of scheme `https`, and answers GET and POST with a status of 200, after it has read all of the body, which may be of
/// 1 MB. Its host is in the certificate, but for ``otherHost``. A connection may be used 100 times and more, and for as long as the suite runs.
///
/// A transport with ``TransportCapabilities/ownCertificateAuthorities`` is told by each request whom to trust. Another one must trust the root of
/// the ``chain`` by itself, and not ``otherAuthority``: its own configuration says so, or the system's authorities.
public struct ConformanceServers: Sendable {
    /// A server with everything right, which offers TLS 1.3 and 1.2, HTTP/2 and HTTP/1.1, and keeps connections.
    public var secure: URL
    /// Its certificates: its own, those of the intermediate authorities that it sends along, and the root, which it needn't send.
    public var chain: [Certificate]
    /// A root that has nothing to do with these servers, and isn't trusted.
    public var otherAuthority: Certificate

    /// Its certificate isn't valid any more; all else is right.
    public var expired: URL?
    /// Its certificate isn't valid yet.
    public var notYetValid: URL?
    /// Its certificate is for another host.
    public var otherHost: URL?
    /// Its certificate comes from the ``otherAuthority``, or another one that isn't trusted.
    public var unknownIssuer: URL?
    /// Its certificate vouches for itself.
    public var selfSigned: URL?
    /// It keeps back the intermediate certificate that vouches for its own, which no other server sends, and which says nowhere where it can be
    /// found (RFC 5280 §4.2.2.1): some engines remember and fetch such.
    public var incomplete: URL?
    /// It speaks TLS 1.2, and nothing later; all is right.
    public var oldTLS: URL?
    /// It answers POST at once, before it has read the body, by HTTP/2 as well; all is right. What is left of the body it needn't read.
    public var answeringEarly: URL?

    /// The ``secure`` server where it answers a POST with a body in which the posted letters stand as they were, such as an echo, or
    /// httpbin's `/anything`.
    public var echo: URL?

    /// It speaks HTTP/1.1 only, keeps its connections, and is careless with them. Some 10 ms after the answer to `/late/NAME`, which is a status of
    /// 200 or, by its name, 204, it sends over the same connection: `408` that status, `answer` another answer, `body-204` a body, `break` a line
    /// break, `half` the beginning of an answer, `part` the beginning of a record of TLS, `notify` TLS's close_notify, `close` that and the end,
    /// `end` the end alone, `reset` a reset; with `-chunks` the answer is in chunks. The body of `/end/NAME` is `whole`, and the connection ends
    /// with it: `notify` with TLS's close_notify, `end` without, in HTTP/1.0 with `-old`, in chunks with `-chunks`, with a length with `-length`, with
    /// `Connection: close` with `-closing`, of 1 MB with `-large`. All other paths are answered with `second`.
    public var careless: URL?

    /// It wants a client's certificate, and refuses others than ``identity``, in TLS or by a status from 400 on.
    public var wantingIdentity: URL?
    /// Who is let in there, in PKCS#12.
    public var identity: ClientIdentity?
    /// The same in PEM.
    public var identityInPEM: ClientIdentity?
    /// An identity from the ``otherAuthority``, in PKCS#12.
    public var otherIdentity: ClientIdentity?
    /// An identity in PKCS#12 with a wrong passphrase, which is the text `wrong-passphrase`.
    public var lockedIdentity: ClientIdentity?
    /// The certificates of ``identityInPEM`` with a private key that isn't theirs, in PEM.
    public var mismatchedIdentity: ClientIdentity?

    /// A forward proxy, at an `http` URL, that lets anybody through to the ``secure`` and the ``expired`` server.
    public var proxy: URL?
    /// The same, for those only who send the ``proxyCredentials``: others get 407.
    public var challengingProxy: URL?
    /// The value of `Proxy-Authorization` that lets through there. It is never shown.
    public var proxyCredentials: String?

    /// Servers of which there is but the one with everything right.
    ///
    /// - Parameters:
    ///   - secure: see ``secure``.
    ///   - chain: its certificates, its own first and the root last. Without any, each case that needs them fails.
    ///   - otherAuthority: see ``otherAuthority``.
    public init(secure: URL, chain: [Certificate], otherAuthority: Certificate) {
        self.secure = secure
        self.chain = chain
        self.otherAuthority = otherAuthority
    }
}

extension ConformanceServers: CustomStringConvertible, CustomReflectable {
    /// The URL of the secure server; credentials are never part of it.
    public var description: String { "servers for conformance, such as \(secure.host() ?? "none"):\(secure.port ?? 443)" }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
