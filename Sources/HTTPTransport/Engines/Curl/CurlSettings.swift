import CSystemLibraries
import Foundation

/// The settings common to all exchanges of a transport, in libcurl's form.
struct CurlSettings: Sendable {
    /// The library.
    let library: CurlLibrary
    /// The transport's configuration.
    let configuration: CurlTransport.Configuration
    /// The authorities for https proxies, in PEM; `nil` for only the system's.
    private let proxyAuthorities: [UInt8]?
    /// The hosts that are reached without the configuration's proxy.
    private let proxyExceptions: ProxyExceptions
    /// Whether the environment names proxies.
    private let hasEnvironmentProxies: Bool
    /// The file for the keys of secure connections; `nil` for none.
    private let keyLog: CurlKeyLog?

    /// The maximum number of bytes to read from a connection at once. libcurl allocates this buffer for each exchange, and for more than 64
    /// kB the allocator consolidates its memory each time.
    private static let bufferSize = 60 * 1024

    /// Creates the settings for all handles.
    ///
    /// - Throws: ``TransportError``: `badRequest` if no authority would be trusted, or if the proxy is invalid; `unsupported` if the
    ///   library doesn't support custom authorities.
    init(library: CurlLibrary, configuration: CurlTransport.Configuration) throws(TransportError) {
        self.library = library
        self.configuration = configuration
        try configuration.proxy.check()
        proxyExceptions = try ProxyExceptions(of: configuration.proxy)
        if let fault = Self.fault(ofSocket: configuration.unixSocket) { throw TransportError(.badRequest, fault) }
        if let fault = TrustPolicy(authorities: configuration.proxyAuthorities).faults.first {
            throw TransportError(.badRequest, "proxyAuthorities is invalid: \(fault).")
        }
        proxyAuthorities = try CurlTrust.authorities(configuration.proxyAuthorities, library)
        keyLog = try configuration.keyLogFile.map { path throws(TransportError) in try CurlKeyLog(path, library) }
        let environment = ProcessInfo.processInfo.environment
        hasEnvironmentProxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
            environment[$0]?.isEmpty == false
        }
    }

    /// Returns the error in the path of a socket, which libcurl would report only at each call, or treat as no path.
    private static func fault(ofSocket path: String?) -> String? {
        guard let path else { return nil }
        if path.isEmpty || path.utf8.contains(0) { return "unixSocket isn't a valid path: leave it nil for none." }
        // sockaddr_un: the path with its terminating NUL.
        let most = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count > most else { return nil }
        return "unixSocket has \(path.utf8.count) bytes, and the system's limit is \(most): use a shorter path than \(path)."
    }

    /// The maximum number of exchanges that wait for their heads at a time.
    var maximumWaitingForHead: Int { max(1, configuration.maximumConcurrentExchanges) }
    /// The maximum number of them for one origin.
    var maximumWaitingForHeadPerOrigin: Int { max(1, configuration.maximumConcurrentExchangesPerOrigin) }
    /// The maximum number of queued exchanges for one origin; `nil` for no limit.
    var queueLimitPerOrigin: Int? { configuration.maximumWaitingExchangesPerOrigin.map { max(1, $0) } }

    /// Sets the options. Many override libcurl's defaults.
    ///
    /// - Throws: ``TransportError`` with `unsupported` if the library doesn't support the route or the version of TLS.
    func apply(to easy: OpaquePointer) throws(TransportError) {
        // Signals belong to the program.
        csl_easy_set_long(easy, CSL_OPTION_NO_SIGNAL, 1)
        csl_easy_set_long(easy, CSL_OPTION_PROTOCOLS, CSL_PROTOCOL_HTTP | CSL_PROTOCOL_HTTPS)
        // The path is sent unchanged: dot segments are up to the caller.
        csl_easy_set_long(easy, CSL_OPTION_PATH_AS_IS, 1)
        csl_easy_set_long(easy, CSL_OPTION_HTTP_0_9, 0)
        // The lines of the head are also passed to the body's callback, before libcurl stores them.
        if library.keepsFreedHeader { csl_easy_set_long(easy, CSL_OPTION_HEADER, 1) }
        csl_easy_set_long(easy, CSL_OPTION_BUFFER_SIZE, Self.bufferSize)
        csl_easy_set_long(easy, CSL_OPTION_TCP_KEEPALIVE, 1)
        // A transfer that ends while its host's name is being resolved doesn't wait for the resolver (7.87).
        csl_easy_set_long(easy, CSL_OPTION_QUICK_EXIT, 1)
        // The loop keeps the deadlines: a day here, so that libcurl's default of five minutes doesn't apply.
        csl_easy_set_long(easy, CSL_OPTION_CONNECT_TIMEOUT_MS, 86_400_000)
        switch configuration.httpVersion {
        case .http1: csl_easy_set_long(easy, CSL_OPTION_HTTP_VERSION, CSL_HTTP_VERSION_1_1)
        case .http2WhereOffered:
            csl_easy_set_long(easy, CSL_OPTION_HTTP_VERSION, CSL_HTTP_VERSION_2_OVER_TLS)
        case .http2WithPriorKnowledge:
            csl_easy_set_long(easy, CSL_OPTION_HTTP_VERSION, CSL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
        csl_easy_set_long(easy, CSL_OPTION_HEADER_SEPARATION, CSL_HEADER_SEPARATE)
        csl_easy_set_long(easy, CSL_OPTION_TLS_VERSION, CSL_TLS_VERSION_1_2)
        // If the library doesn't report that the connection is established, a proxy's head would be mistaken for the server's.
        if !library.reportsConnections { csl_easy_set_long(easy, CSL_OPTION_SUPPRESS_CONNECT_HEADERS, 1) }
        if let path = configuration.unixSocket {
            try library.check(csl_easy_set_text(easy, CSL_OPTION_UNIX_SOCKET, path), "Unix-domain sockets")
        }
        if let keyLog { try library.check(csl_easy_log_keys(easy, keyLog.descriptor), "a log of keys") }
        try applyProxy(to: easy)
    }

    /// Makes an exchange ignore the environment's proxies.
    func bypassProxies(_ easy: OpaquePointer) {
        csl_easy_set_text(easy, CSL_OPTION_PROXY, "")
        csl_easy_set_text(easy, CSL_OPTION_NO_PROXY, "")
    }

    private func applyProxy(to easy: OpaquePointer) throws(TransportError) {
        csl_easy_set_long(easy, CSL_OPTION_PROXY_TLS_VERSION, CSL_TLS_VERSION_1_2)
        if let proxyAuthorities {
            try library.check(CurlTrust.set(proxyAuthorities, CSL_OPTION_PROXY_AUTHORITIES_BLOB, of: easy), "authorities for a proxy")
            if !configuration.proxyAuthorities.includesSystem {
                csl_easy_set_text(easy, CSL_OPTION_PROXY_AUTHORITIES_FOLDER, library.noFolder)
            }
        }
        switch configuration.proxy {
        case .fromEnvironment where hasEnvironmentProxies: break
        case .fromEnvironment, .none:
            // Without the second option, libcurl reads the exceptions from the environment for each exchange.
            bypassProxies(easy)
        case .url(let url, _):
            try library.check(csl_easy_set_text(easy, CSL_OPTION_PROXY, url.absoluteString), "this kind of proxy")
            csl_easy_set_text(easy, CSL_OPTION_NO_PROXY, proxyExceptions.text(forCallTo: ""))
        }
    }

    /// Sets whether a call to an origin uses the proxy, if that depends on the host.
    func applyExceptions(to easy: OpaquePointer, callTo origin: Origin) {
        guard proxyExceptions.dependsOnHost else { return }
        csl_easy_set_text(easy, CSL_OPTION_NO_PROXY, proxyExceptions.text(forCallTo: origin.host))
    }

    /// Returns whether calls to an origin ignore the environment's proxies: this machine is never reached through another one.
    func bypassesProxies(to origin: Origin) -> Bool {
        guard hasEnvironmentProxies, case .fromEnvironment = configuration.proxy else { return false }
        return IPAddress.isLoopback(origin.host)
    }

    /// Whether connections may use a proxy.
    var mayUseProxies: Bool {
        switch configuration.proxy {
        case .fromEnvironment: hasEnvironmentProxies
        case .none: false
        case .url: true
        }
    }

    /// Returns the proxy that connections to an origin may use, for messages; `nil` if there is none.
    func proxyText(to origin: Origin) -> String? {
        guard configuration.unixSocket == nil else { return nil }
        switch configuration.proxy {
        case .fromEnvironment:
            guard hasEnvironmentProxies, !bypassesProxies(to: origin), let name = Self.variable(for: origin) else { return nil }
            return "from the environment (\(name))"
        case .none: return nil
        case .url:
            return proxyExceptions.contains(origin.host) ? nil : "\(configuration.proxy)"
        }
    }

    /// Returns the environment variable that names the proxy for an origin; `nil` if there is none. Only for messages: libcurl finds the
    /// proxy itself.
    private static func variable(for origin: Origin) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard !ProxyExceptions(environment: exceptions).contains(origin.host) else { return nil }
        let names = (origin.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.first { environment[$0]?.isEmpty == false }
    }

    /// Returns whether several exchanges may share a connection to an origin at once, so that it is worth waiting for it while it is being
    /// established.
    ///
    /// Without TLS, the server doesn't announce this while connecting: libcurl would wait for the first response, which may take long.
    func sharesConnections(to origin: Origin) -> Bool {
        switch configuration.httpVersion {
        case .http1: false
        case .http2WhereOffered: origin.scheme == "https"
        case .http2WithPriorKnowledge: keepsConnections(to: origin)
        }
    }

    /// Returns whether a connection to an origin may be reused. If the library doesn't report that it is about to send, a used connection
    /// can't be checked, and a request may be sent over it twice.
    func keepsConnections(to origin: Origin) -> Bool {
        guard library.reportsConnections else { return false }
        return configuration.httpVersion != .http2WithPriorKnowledge || origin.scheme == "https" || library.keepsPlainHTTP2
    }

    /// Sets the options of the set of transfers.
    func apply(toSet multi: OpaquePointer) {
        csl_multi_set_long(multi, CSL_MULTI_MOST_CONNECTIONS_KEPT, max(1, configuration.maximumIdleConnections))
        csl_multi_set_long(multi, CSL_MULTI_MOST_CONNECTIONS_PER_HOST, max(0, configuration.maximumConnectionsPerHost ?? 0))
    }
}
