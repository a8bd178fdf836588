public import Foundation
public import WebServiceClient
import WebServiceTesting

/// Your TLS servers for a ``TransportConformance``, which a ``LoopbackServer`` can't replace. The cases on trust, client certificates,
/// HTTP/2 and tunnels use them. A case whose server is missing is skipped and names it.
///
///     var servers = ConformanceServers(secure: url, chain: [leaf, intermediate, root], otherAuthority: other)
///     servers.expired = URL(string: "https://127.0.0.1:8444/")
///     let suite = TransportConformance(servers: servers) { MyTransport() }
///
/// Each server's URL has the scheme `https`. The server answers GET and POST with status 200, after reading the whole body, of up to 1 MB.
/// Its certificate is for its host, except for ``otherHost``. A connection must allow 100 or more requests and last as long as the suite
/// runs.
///
/// A transport with ``TransportCapabilities/ownCertificateAuthorities`` receives the trusted authorities with each request. Any other
/// transport must trust the root of the ``chain``, and not ``otherAuthority``, by its configuration or the system's authorities.
public struct ConformanceServers: Sendable {
    /// A server without a fault, which offers TLS 1.3 and 1.2, HTTP/2 and HTTP/1.1, and keeps connections open.
    public var secure: URL
    /// The certificates of the ``secure`` server: its own, the intermediate certificates that it sends, and the root, which it need not
    /// send.
    public var chain: [Certificate]
    /// An untrusted root that is unrelated to these servers.
    public var otherAuthority: Certificate

    /// A server with an expired certificate and no other fault.
    public var expired: URL?
    /// A server whose certificate isn't valid yet.
    public var notYetValid: URL?
    /// A server whose certificate is for another host.
    public var otherHost: URL?
    /// A server whose certificate was issued by ``otherAuthority`` or another untrusted one.
    public var unknownIssuer: URL?
    /// A server with a self-signed certificate.
    public var selfSigned: URL?
    /// A server that doesn't send its intermediate certificate. No other server may send it, and the certificate must not contain a
    /// location for it (RFC 5280 §4.2.2.1), because some engines remember or fetch intermediate certificates.
    public var incomplete: URL?
    /// A server without a fault that supports TLS 1.2 at most.
    public var oldTLS: URL?
    /// A server without a fault that answers POST before reading the body, over HTTP/2 as well. It need not read the rest of the body.
    public var answeringEarly: URL?

    /// A URL of the ``secure`` server that answers POST with a body that contains the posted letters unchanged, such as an echo or
    /// httpbin's `/anything`.
    public var echo: URL?

    /// A server with HTTP/1.1 only that keeps its connections open and misuses them. About 10 ms after the response to `/late/NAME`, with
    /// status 200 or, for names with `-204`, 204, it sends on the same connection: for `408` a response with that status, `answer` another
    /// response, `body-204` a body, `break` a line break, `half` the beginning of a response, `part` the beginning of a TLS record,
    /// `notify` TLS's close_notify, `close` close_notify and the end, `end` only the end, `reset` a reset; with `-chunks` the first
    /// response is in chunks. The body of `/end/NAME` is `whole`, and the connection ends after it: for `notify` with TLS's close_notify,
    /// for `end` without; in HTTP/1.0 with `-old`, in chunks with `-chunks`, with a length with `-length`, with `Connection: close` with
    /// `-closing`, with 1 MB with `-large`. All other paths return `second`.
    public var careless: URL?

    /// A server that requires the client certificate of ``identity`` and refuses others, in TLS or with a status of 400 or above.
    public var wantingIdentity: URL?
    /// The identity that the server accepts, in PKCS#12.
    public var identity: ClientIdentity?
    /// The identity that the server accepts, in PEM.
    public var identityInPEM: ClientIdentity?
    /// An identity from the ``otherAuthority``, in PKCS#12.
    public var otherIdentity: ClientIdentity?
    /// An identity in PKCS#12 with the wrong passphrase `wrong-passphrase`.
    public var lockedIdentity: ClientIdentity?
    /// The certificates of ``identityInPEM`` with the private key of another certificate, in PEM.
    public var mismatchedIdentity: ClientIdentity?

    /// A forward proxy at an `http` URL that permits all clients to connect to the ``secure`` and ``expired`` servers.
    public var proxy: URL?
    /// A forward proxy like ``proxy`` that requires the ``proxyCredentials``: others get 407.
    public var challengingProxy: URL?
    /// The value of `Proxy-Authorization` for the ``challengingProxy``. It is never shown.
    public var proxyCredentials: String?

    /// Makes servers with only the one without a fault.
    ///
    /// - Parameters:
    ///   - secure: See ``secure``.
    ///   - chain: The certificates of the server, from its own to the root. If it is empty, each case that needs them fails.
    ///   - otherAuthority: See ``otherAuthority``.
    public init(secure: URL, chain: [Certificate], otherAuthority: Certificate) {
        self.secure = secure
        self.chain = chain
        self.otherAuthority = otherAuthority
    }
}

extension ConformanceServers: CustomStringConvertible, CustomReflectable {
    /// The URL of the secure server, without credentials.
    public var description: String { "servers for conformance, such as \(secure.host() ?? "none"):\(secure.port ?? 443)" }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
