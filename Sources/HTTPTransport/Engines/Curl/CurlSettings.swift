import CSystemLibraries
import Foundation

/// What all exchanges of a transport have in common, as libcurl takes it.
struct CurlSettings: Sendable {
    /// The library.
    let library: CurlLibrary
    /// What the transport was given.
    let configuration: CurlTransport.Configuration
    /// Who vouches for an https proxy, in PEM, where that isn't just the system.
    private let proxyAuthorities: [UInt8]?
    /// The hosts that aren't reached through the configuration's proxy.
    private let proxyExceptions: ProxyExceptions
    /// Whether the environment names proxies.
    private let hasEnvironmentProxies: Bool
    /// Where the keys of secure connections are written; `nil` for nowhere.
    private let keyLog: CurlKeyLog?

    /// Bytes that are read from a connection at once. libcurl asks for the memory anew for each exchange: for more than 64 kB the
    /// allocator tidies up each time.
    private static let bufferSize = 60 * 1024

    /// Settings that are the same for all handles.
    ///
    /// - Throws: ``TransportError``: `badRequest` where nobody would be trusted, or the proxy can't be one; `unsupported` where the library
    ///   takes no authorities of one's own.
    init(library: CurlLibrary, configuration: CurlTransport.Configuration) throws(TransportError) {
        self.library = library
        self.configuration = configuration
        try configuration.proxy.check()
        proxyExceptions = try ProxyExceptions(of: configuration.proxy)
        if let fault = Self.fault(ofSocket: configuration.unixSocket) { throw TransportError(.badRequest, fault) }
        if let fault = TrustPolicy(authorities: configuration.proxyAuthorities).faults.first {
            throw TransportError(.badRequest, "proxyAuthorities can't be right: \(fault).")
        }
        proxyAuthorities = try CurlTrust.authorities(configuration.proxyAuthorities, library)
        keyLog = try configuration.keyLogFile.map { path throws(TransportError) in try CurlKeyLog(path, library) }
        let environment = ProcessInfo.processInfo.environment
        hasEnvironmentProxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
            environment[$0]?.isEmpty == false
        }
    }

    /// What is wrong with the path of a socket, which libcurl would find out with each call only, or take for none.
    private static func fault(ofSocket path: String?) -> String? {
        guard let path else { return nil }
        if path.isEmpty || path.utf8.contains(0) { return "unixSocket is no path: leave it nil for none." }
        // sockaddr_un: the path with its end.
        let most = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count > most else { return nil }
        return "unixSocket has \(path.utf8.count) bytes, and the system takes \(most) at most: use a shorter path to \(path)."
    }

    /// How many exchanges may wait for their heads at one time.
    var mostWaitingForHead: Int { max(1, configuration.maximumConcurrentExchanges) }
    /// How many of them may go to one origin.
    var mostWaitingForHeadFromOne: Int { max(1, configuration.maximumConcurrentExchangesPerOrigin) }
    /// How many may wait for their turn to one origin; `nil` for no bound.
    var mostQueuedForOne: Int? { configuration.maximumWaitingExchangesPerOrigin.map { max(1, $0) } }

    /// Sets them. What libcurl does by itself where nothing is set is undone here: see its defaults for each.
    ///
    /// - Throws: ``TransportError`` with `unsupported` where the library knows neither the way nor the version of TLS that is asked for.
    func apply(to easy: OpaquePointer) throws(TransportError) {
        // Signals are the program's.
        csl_easy_set_long(easy, CSL_OPTION_NO_SIGNAL, 1)
        csl_easy_set_long(easy, CSL_OPTION_PROTOCOLS, CSL_PROTOCOL_HTTP | CSL_PROTOCOL_HTTPS)
        // The path goes out as it stands in the URL: dot segments are the caller's.
        csl_easy_set_long(easy, CSL_OPTION_PATH_AS_IS, 1)
        csl_easy_set_long(easy, CSL_OPTION_HTTP_0_9, 0)
        // The head's lines come to the body's callback as well, and there first.
        if library.keepsFreedHeader { csl_easy_set_long(easy, CSL_OPTION_HEADER, 1) }
        csl_easy_set_long(easy, CSL_OPTION_BUFFER_SIZE, Self.bufferSize)
        csl_easy_set_long(easy, CSL_OPTION_TCP_KEEPALIVE, 1)
        // A transfer that ends while its host's name is being resolved doesn't wait for the resolver (7.87).
        csl_easy_set_long(easy, CSL_OPTION_QUICK_EXIT, 1)
        // The deadlines are kept by the loop: this one is a day, so that libcurl's own of five minutes doesn't come first.
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
        // Where nothing tells that the connection stands, a proxy's head would pass for the server's.
        if !library.reportsConnections { csl_easy_set_long(easy, CSL_OPTION_SUPPRESS_CONNECT_HEADERS, 1) }
        if let path = configuration.unixSocket {
            try library.check(csl_easy_set_text(easy, CSL_OPTION_UNIX_SOCKET, path), "Unix-domain sockets")
        }
        if let keyLog { try library.check(csl_easy_log_keys(easy, keyLog.descriptor), "a log of keys") }
        try applyProxy(to: easy)
    }

    /// Lets one exchange go without the environment's proxies.
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
            // Without the second option libcurl asks the environment for exceptions with each exchange.
            bypassProxies(easy)
        case .url(let url, _):
            try library.check(csl_easy_set_text(easy, CSL_OPTION_PROXY, url.absoluteString), "such a proxy")
            csl_easy_set_text(easy, CSL_OPTION_NO_PROXY, proxyExceptions.text(forCallTo: ""))
        }
    }

    /// Sets whether a call to an origin goes around the proxy, where the handle can't know it.
    func applyExceptions(to easy: OpaquePointer, callTo origin: Origin) {
        guard proxyExceptions.dependsOnHost else { return }
        csl_easy_set_text(easy, CSL_OPTION_NO_PROXY, proxyExceptions.text(forCallTo: origin.host))
    }

    /// Whether the environment's proxies are passed by on the way to an origin: this machine is never reached through another one.
    func bypassesProxies(to origin: Origin) -> Bool {
        guard hasEnvironmentProxies, case .fromEnvironment = configuration.proxy else { return false }
        return IPAddress.isLoopback(origin.host)
    }

    /// Whether connections may go through a proxy.
    var mayUseProxies: Bool {
        switch configuration.proxy {
        case .fromEnvironment: hasEnvironmentProxies
        case .none: false
        case .url: true
        }
    }

    /// The proxy that connections to an origin may go through, for messages; `nil` where there is none.
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

    /// The environment's variable that names the proxy to an origin; `nil` where there is none. libcurl finds the proxy by itself, and this is for
    /// messages only.
    private static func variable(for origin: Origin) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard !ProxyExceptions(environment: exceptions).contains(origin.host) else { return nil }
        let names = (origin.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.first { environment[$0]?.isEmpty == false }
    }

    /// Whether a connection to an origin may take several exchanges at once, and is worth being waited for while it is made.
    ///
    /// Without TLS the server doesn't say so while it connects: libcurl would wait for the first answer, which may take its time.
    func sharesConnections(to origin: Origin) -> Bool {
        switch configuration.httpVersion {
        case .http1: false
        case .http2WhereOffered: origin.scheme == "https"
        case .http2WithPriorKnowledge: keepsConnections(to: origin)
        }
    }

    /// Whether a connection to an origin may be used by another exchange. A library that doesn't tell before it sends leaves no chance to look at
    /// a used connection, and may send a request twice over it.
    func keepsConnections(to origin: Origin) -> Bool {
        guard library.reportsConnections else { return false }
        return configuration.httpVersion != .http2WithPriorKnowledge || origin.scheme == "https" || library.keepsPlainHTTP2
    }

    /// Sets what belongs to the set of transfers.
    func apply(toSet multi: OpaquePointer) {
        csl_multi_set_long(multi, CSL_MULTI_MOST_CONNECTIONS_KEPT, max(1, configuration.maximumIdleConnections))
        csl_multi_set_long(multi, CSL_MULTI_MOST_CONNECTIONS_PER_HOST, max(0, configuration.maximumConnectionsPerHost ?? 0))
    }
}
