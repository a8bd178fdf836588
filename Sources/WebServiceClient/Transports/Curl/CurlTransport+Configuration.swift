public import Foundation

extension CurlTransport {
    /// Which versions of HTTP are used.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
        case http2WhereOffered
        /// HTTP/2 at once, also without TLS: for servers that are known to speak it (RFC 9113 §3.3). libcurl 7.88 can't use a connection without
        /// TLS again: each exchange has one of its own there.
        case http2WithPriorKnowledge
    }

    /// The proxies on the way.
    public enum Proxy: Sendable, Hashable {
        /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. Connections to this machine go through none of them:
        /// to `localhost` and the names below it, 127.0.0.0/8 and ::1, in any spelling. The environment is asked for each exchange where it names a
        /// proxy when the transport is made. Where it names none by then, no exchange asks, and one that is set later goes unseen: make
        /// another transport.
        case fromEnvironment
        /// None.
        case none
        /// The proxy at a URL, of scheme `http`, `https`, `socks5` or `socks5h` (which resolves names itself), but for these hosts and
        /// their subdomains: names (`*.example.com` and `.example.com` are `example.com`), addresses, and networks such as `10.0.0.0/8`;
        /// `*` is all hosts. An address is the same however it is spelled, and one of version 4 is `::ffff:192.0.2.1` too. There is no
        /// exception for one port. Credentials in the URL are sent to it at once, to one of HTTP as Basic (RFC 7617); the client's
        /// `proxyAuthenticationProvider` answers what it asks for. A proxy of another scheme, or an exception that would match nothing,
        /// can't be used: the transport isn't made.
        case url(URL, exceptions: [String] = [])
    }

    /// What can be set of a ``CurlTransport``.
    public struct Configuration: Sendable {
        /// The most exchanges that wait for their heads at one time, at least 1; the others wait for their turn: in order to one origin, and
        /// the origins by turns. Exchanges whose bodies are being read don't count. Each takes a descriptor, and one more where its body is
        /// a file: mind the process's limit. Default 256.
        ///
        /// When half of them are under way, the rest is shared: an origin gets another one only while it has less than an eighth of those that are
        /// left. Origins that don't answer leave some for others that way.
        public var maximumConcurrentExchanges = 256
        /// The most of them that go to one origin, at least 1, so that one that doesn't answer leaves room for the others. An origin by itself
        /// gets as many, whatever is left then for others. Default: half of ``maximumConcurrentExchanges``, at most 128.
        public var maximumConcurrentExchangesPerOrigin: Int {
            get { concurrentExchangesPerOrigin ?? min(128, max(1, maximumConcurrentExchanges - maximumConcurrentExchanges / 2)) }
            set { concurrentExchangesPerOrigin = newValue }
        }
        private var concurrentExchangesPerOrigin: Int?
        /// The most exchanges that wait for their turn to one origin, at least 1; `nil` for no bound. Another one fails at once with
        /// ``TransportError/Code/tooManyWaiting``. Default `nil`: each takes a few kilobytes until its time is over.
        public var maximumWaitingExchangesPerOrigin: Int?
        /// The most connections to one host at a time; `nil` for no bound but that of the exchanges. Default `nil`. Each set of
        /// credentials that is shown to a proxy has connections of its own: this bound and ``maximumIdleConnections`` count for each by itself.
        public var maximumConnectionsPerHost: Int?
        /// The most connections that are open at a time, in use or not, before one that gets free is closed instead of being kept for later
        /// exchanges. Default 256.
        public var maximumIdleConnections = 256
        /// The versions of HTTP. Default: 2 where offered.
        public var httpVersion = HTTPVersion.http2WhereOffered
        /// The proxies. Default: from the environment.
        public var proxy = Proxy.fromEnvironment
        /// Who vouches for a proxy of scheme `https`; needs libcurl 7.77 where it isn't the system's. A request's own ``TrustPolicy`` is about
        /// the server behind it. Default: the system's.
        public var proxyAuthorities = CertificateAuthorities.system
        /// The path of a Unix-domain socket that all connections go to, whatever the host and the proxies. Default none.
        public var unixSocket: String?
        /// Whether a body that ends where a TLS connection ends is complete although the server hasn't announced the end by TLS's close_notify. By
        /// default such a body is ``TransportError/Code/truncated``: anybody on the way could have cut it off (RFC 9112 §8). Set it for servers that
        /// are known to do so. Bodies with a length or in chunks don't need the notice.
        public var acceptsUnannouncedEnds = false
        /// The path of a file to which the keys of all secure connections are written, for programs such as Wireshark: whoever reads it can read what
        /// goes over them. It is made readable by its owner only, and refused where others may read it; needs OpenSSL. Default none: the variable
        /// `SSLKEYLOGFILE` of the environment counts for nothing, unless a program sets this to it.
        public var keyLogFile: String?
        /// Whom to trust where a request doesn't say. An identity in it is shown to every origin that asks for one; that of a client's own
        /// policy goes to the origin of its service root only.
        public var trust = TrustPolicy()

        /// The defaults.
        public init() {}
    }
}
