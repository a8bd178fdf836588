import CSystemLibraries
import Foundation

/// What a result of libcurl means.
enum CurlFault {
    /// What a result of a set of transfers means, as text.
    static func text(ofSet code: Int32) -> String {
        csl_multi_error_text(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// The error of a transfer that ended with that result; `nil` for a good one.
    static func error(_ code: Int32, of exchange: CurlExchange, _ handle: CurlHandle) -> (any Error)? {
        guard code != CSL_RESULT_OK else { return nil }
        let isConnecting = [CSL_RESULT_CANNOT_CONNECT, CSL_RESULT_HOST_NOT_RESOLVED, CSL_RESULT_PROXY_NOT_RESOLVED].contains(Int(code))
        // The request has gone out, and libcurl would have sent it once more.
        if isConnecting, exchange.transfer.isConnected { return stale(exchange.request.host) }
        let settings = exchange.transfer.loop?.settings
        let isShort = DescriptorShortage.sentence(for: exchange.transfer.socketError ?? 0) != nil
        if let socket = settings?.configuration.unixSocket, Int(code) == CSL_RESULT_CANNOT_CONNECT, !isShort {
            return nobody(atSocket: socket, for: exchange.request.host, CurlError(code: Int(code), text: handle.errorText))
        }
        var error = error(
            code, text: handle.errorText, at: exchange.request.origin, isConnected: exchange.transfer.isConnected,
            hasHead: exchange.transfer.hasHead, showsIdentity: exchange.trust.hasIdentity,
            proxy: settings?.proxyText(to: exchange.request.origin), socketError: exchange.transfer.socketError ?? 0,
            handle.easy)
        error.isConnectionStale =
            error.code == .connectionLost && exchange.transfer.isConnected && exchange.transfer.heads.isEmpty
            && csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) == 0
        return error
    }

    /// The error that a result other than the good one stands for.
    ///
    /// - Parameters:
    ///   - text: what libcurl says of it; empty when nothing.
    ///   - proxy: the proxy that connections may go through; `nil` where there is none.
    ///   - socketError: why the system gave no socket; 0 where it did.
    static func error(
        _ code: Int32, text: String, at origin: Origin, isConnected: Bool = false, hasHead: Bool = false, showsIdentity: Bool,
        proxy: String? = nil, socketError: Int32 = 0, _ easy: OpaquePointer
    ) -> TransportError {
        let host = origin.authority
        let text = withoutUserInfo(text.isEmpty ? csl_easy_error_text(code).map { String(cString: $0) } ?? "" : text)
        let verified = csl_easy_get_long(easy, CSL_INFO_TLS_VERIFY_RESULT)
        if !isConnected, let sentence = shortage(Int(code), verified: verified, socketError) {
            let place = "No connection to \(host) can be made now."
            return TransportError(.cannotConnect, "\(place) \(sentence)", underlying: CurlError(code: Int(code), text: text))
        }
        // Set from the start of a proxy's handshake until its certificate has been found good.
        let proxyResult = csl_easy_get_long(easy, CSL_INFO_PROXY_TLS_VERIFY_RESULT)
        let isProxy = proxyResult > 0 && [CSL_RESULT_PEER_NOT_VERIFIED, CSL_RESULT_TLS_CONNECT].contains(Int(code))
        let small = text.lowercased()
        let kind: TransportError.Code
        let sentence: String
        if isProxy {
            (kind, sentence) = insecureProxy(
                to: host, text: small, isCertificate: Int(code) == CSL_RESULT_PEER_NOT_VERIFIED, verified: proxyResult)
        } else if Int(code) == CSL_RESULT_CANNOT_CONNECT, !small.contains("proxy scheme") {
            kind = .cannotConnect
            sentence = unreachable(
                origin, small, mayUseProxy: proxy != nil, systemError: Int32(clamping: csl_easy_get_long(easy, CSL_INFO_SYSTEM_ERROR)))
        } else {
            (kind, sentence) = meaning(
                Int(code), text: small, host: host, isConnected: isConnected, hasHead: hasHead, showsIdentity: showsIdentity,
                verified: verified)
        }
        return TransportError(kind, sentence, underlying: CurlError(code: Int(code), text: text))
    }

    /// A proxy refused to open a tunnel to an https server.
    static func tunnelRefused(to host: String, status: Int) -> TransportError {
        TransportError(
            .proxyRefused, "The proxy on the way to \(host) refuses to connect to it, with status \(status): is the host allowed there?")
    }

    /// A connection that was used again had ended by then.
    static func stale(_ host: String) -> TransportError {
        var error = TransportError(.connectionLost, "\(host) closed the connection before it had answered.")
        error.isConnectionStale = true
        return error
    }

    /// The first header line begins with a blank.
    static func badFirstLine(from host: String) -> TransportError {
        TransportError(
            .unreadableResponse,
            "What \(host) answered is no HTTP that can be read: the first line of its header fields begins with a blank (RFC 9112 §5.2).")
    }

    /// A secure connection ended without notice, where that is the end of the body, too.
    static func unannouncedEnd(of host: String) -> TransportError {
        TransportError(
            .truncated,
            "The response from \(host) may be cut off: its head has no length, and the connection ended without TLS's close_notify "
                + "(RFC 9112 §8). Where the server is known to do that, set CurlTransport.Configuration.acceptsUnannouncedEnds.")
    }

    /// Whether libcurl says that a connection ended without TLS's close_notify: later versions do, and all with GnuTLS.
    static func isUnannouncedEnd(_ code: Int32, _ text: String) -> Bool {
        code == CSL_RESULT_RECEIVE_ERROR
            && ["unexpected eof while reading", "non-properly terminated"].contains(where: text.lowercased().contains)
    }

    /// An HTTP/2 server took nothing of a request (RFC 9113 §8.7).
    static func refused(by host: String) -> TransportError {
        var error = TransportError(
            .connectionLost, "\(host) refused the request before it had taken anything of it: it may be sent again.")
        error.isConnectionStale = true
        error.isUnprocessed = true
        return error
    }

    /// An HTTP/2 server takes this request by HTTP/1.1 only (RFC 9113 §7, `HTTP_1_1_REQUIRED`).
    static func needsHTTP1(_ host: String) -> TransportError {
        var error = TransportError(
            .connectionLost,
            "\(host) takes the request by HTTP/1.1 only, and has taken nothing of it: sent again, it goes that way. The transport's "
                + "httpVersion .http1 does so from the start.")
        error.isConnectionStale = true
        error.isUnprocessed = true
        return error
    }

    /// Whether libcurl sends a request again since the server wants HTTP/1.1, by what it said of the first attempt: on a new connection 7.88
    /// may say that nothing came, which is no reason to send anything again.
    static func asksForHTTP1(_ text: String) -> Bool {
        text.contains("HTTP_1_1_REQUIRED") || text.hasPrefix("Empty reply")
    }

    /// A server refuses a request for its `Expect`, whose body hasn't gone out.
    static func expectationFailed(at host: String) -> TransportError {
        TransportError(
            .truncated,
            "\(host) answered with 417 to the request's Expect, and libcurl keeps nothing of the body of such an answer: leave Expect out.")
    }

    /// A response ended within its body.
    static func brokenOff(_ host: String, _ text: String) -> TransportError {
        let reason = text.isEmpty ? "" : " (\(withoutUserInfo(text).lowercased()))"
        return TransportError(.truncated, "The response from \(host) broke off within its body\(reason).")
    }

    /// The connection ended, in good order as far as libcurl is concerned, before the head was complete.
    static func noHead(of host: String) -> TransportError {
        TransportError(.connectionLost, "\(host) closed the connection within the head of its response.")
    }

    /// libcurl quotes the URL of a proxy that it can't use, with its password.
    private static func withoutUserInfo(_ text: String) -> String {
        guard let end = text.lastIndex(of: "@") else { return text }
        let start = text.range(of: "://")?.upperBound ?? text.firstIndex(of: "'").map(text.index(after:)) ?? text.startIndex
        return start < end ? text.replacingCharacters(in: start..<end, with: SecretMask.mask) : text
    }

    /// As many calls to an origin wait for their turn as may.
    static func queueIsFull(of host: String, _ most: Int?) -> TransportError {
        TransportError(
            .tooManyWaiting,
            "The call to \(host) was not sent: \(most ?? 0) others already wait for their turn there, as many as "
                + "maximumWaitingExchangesPerOrigin lets wait. Make fewer calls at once, or raise it.")
    }

    /// A connection was disconnected from here, since libcurl didn't return from reading it.
    static func endless(_ host: String, isOfProxy: Bool) -> TransportError {
        TransportError(
            .unreadableResponse,
            "What \(isOfProxy ? "the proxy on the way to " : "")\(host) sent kept the transport busy without an end and brought nothing, such as a flood of empty frames: the connection was "
                + "closed.")
    }

    /// What failed for want of a descriptor or a thread of this process, before there was a connection.
    private static func shortage(_ code: Int, verified: Int, _ socketError: Int32) -> String? {
        if let sentence = DescriptorShortage.sentence(for: socketError) { return sentence }
        // A name can't be looked up without a socket, nor an issuer be found without the file of authorities, and libcurl tells neither.
        switch code {
        case CSL_RESULT_HOST_NOT_RESOLVED, CSL_RESULT_PROXY_NOT_RESOLVED, CSL_RESULT_CANNOT_CONNECT, CSL_RESULT_OUT_OF_MEMORY,
            CSL_RESULT_AUTHORITIES_FILE:
            return DescriptorShortage.sentenceNow()
        case CSL_RESULT_PEER_NOT_VERIFIED where [2, 20, 21].contains(verified):
            return DescriptorShortage.sentenceNow()
        default:
            return nil
        }
    }

    private static func meaning(
        _ code: Int, text: String, host: String, isConnected: Bool, hasHead: Bool, showsIdentity: Bool, verified: Int
    ) -> (TransportError.Code, String) {
        // Where a library shows no heads of proxies: see CurlSettings.
        if !hasHead, text.contains("from proxy after connect") {
            return (.proxyRefused, "The proxy on the way to \(host) refuses to connect to it (\(text)).")
        }
        if isConnected, text.contains("out of memory in chunked") { return (.unreadableResponse, lineTooLong("trailers", host)) }
        switch code {
        case CSL_RESULT_HOST_NOT_RESOLVED where text.contains("thread"), CSL_RESULT_PROXY_NOT_RESOLVED where text.contains("thread"):
            return (
                .cannotConnect,
                "The name of \(host) can't be looked up now (\(text)): the system gives no thread for it, too many are running."
            )
        case CSL_RESULT_HOST_NOT_RESOLVED:
            return (.hostNotFound, "The host \(host) has no address: check its name, and that names can be resolved here.")
        case CSL_RESULT_PROXY_NOT_RESOLVED:
            return (
                .hostNotFound,
                "The proxy on the way to \(host) has no address (\(text)): check its name, in the transport's proxy, or in http_proxy, "
                    + "https_proxy and all_proxy in the environment."
            )
        case CSL_RESULT_CANNOT_CONNECT where text.contains("proxy scheme"):
            return (
                .cannotConnect,
                "The proxy on the way to \(host) can't be used (\(text)): check https_proxy and its like in the environment."
            )
        case CSL_RESULT_PROXY:
            return (.cannotConnect, "The proxy on the way to \(host) refuses (\(text)).")
        case CSL_RESULT_TIMED_OUT:
            return (.cannotConnect, "No connection to \(host) within the time that the system allows (\(text)).")
        case CSL_RESULT_PEER_NOT_VERIFIED:
            return untrusted(host: host, text: text, verified: verified)
        case CSL_RESULT_CLIENT_CERTIFICATE, CSL_RESULT_TLS_CLIENT_CERTIFICATE:
            return (
                .clientCertificate, "The client's certificate for \(host) can't be used (\(text)): check certificate, key and passphrase."
            )
        case CSL_RESULT_TLS_CONNECT, CSL_RESULT_TLS_CIPHER, CSL_RESULT_TLS_SHUTDOWN, CSL_RESULT_ISSUER, CSL_RESULT_AUTHORITIES_FILE:
            if isAboutClient(text) { return client(host: host, text: text, showsIdentity) }
            return (
                .tls,
                "No secure connection to \(host) (\(text)): check that it speaks TLS there, and which versions; some servers end the handshake "
                    + "also where they want a client certificate."
            )
        case CSL_RESULT_PARTIAL:
            guard hasHead else { return (.connectionLost, noHead(of: host).message) }
            return (.truncated, "The response from \(host) ended before its body was complete (\(text)).")
        case CSL_RESULT_GOT_NOTHING:
            return (.connectionLost, "\(host) closed the connection before it had answered.")
        case CSL_RESULT_SEND_ERROR, CSL_RESULT_RECEIVE_ERROR, CSL_RESULT_HTTP2, CSL_RESULT_HTTP2_STREAM, CSL_RESULT_SEND_REWIND:
            if isAboutClient(text) { return client(host: host, text: text, showsIdentity) }
            if isUnreadable(text) { return (.unreadableResponse, "What \(host) answered is no HTTP that can be read (\(text)).") }
            if hasHead { return (.truncated, brokenOff(host, text).message) }
            return (.connectionLost, "\(host) closed the connection before it had answered (\(text)).")
        case CSL_RESULT_UNSUPPORTED_PROTOCOL where text.contains("not supported or disabled"):
            return (.unsupported, "This libcurl can't be used for the call to \(host) (\(text)): install one that was built with TLS.")
        case CSL_RESULT_OUT_OF_MEMORY where !isConnected, CSL_RESULT_TOO_LARGE where !isConnected:
            // What comes from a proxy has the same bound as an answer.
            return (
                .other, "libcurl had no memory for the call to \(host), or a proxy on the way answered with a line of more than 100 kB."
            )
        case CSL_RESULT_OUT_OF_MEMORY, CSL_RESULT_TOO_LARGE:
            return (.unreadableResponse, lineTooLong(hasHead ? "trailers" : "head", host))
        case CSL_RESULT_WEIRD_SERVER_REPLY, CSL_RESULT_UNSUPPORTED_PROTOCOL:
            return (.unreadableResponse, "What \(host) answered is no HTTP that can be read (\(text)).")
        case CSL_RESULT_BAD_ARGUMENT:
            // A head's first field line that begins with a blank: older libraries take it, and it is refused here.
            return (.unreadableResponse, badFirstLine(from: host).message)
        case CSL_RESULT_BAD_CONTENT_ENCODING:
            return (
                .unreadableResponse,
                "The body from \(host) can't be decoded (\(text)): its Transfer-Encoding is unknown here, or it is broken."
            )
        case CSL_RESULT_WRITE_ERROR:
            return (.unreadableResponse, "The response from \(host) can't be taken (\(text)).")
        case CSL_RESULT_BAD_URL:
            return (.badRequest, "The URL of the request to \(host) can't be sent as it is (\(text)).")
        case _ where isUnreadable(text):
            return (.unreadableResponse, "What \(host) answered is no HTTP that can be read (\(text)).")
        default:
            return (.other, "The exchange with \(host) failed with libcurl's error \(code) (\(text)).")
        }
    }

    /// libcurl says that it has no memory where a line is longer than it takes.
    private static func lineTooLong(_ part: String, _ host: String) -> String {
        "A line in the \(part) of the response from \(host) is longer than libcurl takes, which is 100 kB in a head and 4 kB in trailers: the "
            + "service must send less."
    }

    /// No connection could be made.
    private static func unreachable(_ origin: Origin, _ text: String, mayUseProxy: Bool, systemError: Int32) -> String {
        let host = origin.authority
        let proxy = mayUseProxy ? proxy(in: text, otherThan: origin) : nil
        let place = proxy.map { "\($0), the proxy on the way to \(host)" } ?? host
        let reason = String(cString: strerror(systemError)).lowercased()
        switch systemError {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN:
            return "There is no way to \(place) (\(reason)): check the network of this machine, and the address."
        case EADDRNOTAVAIL:
            return "The system gives no address of this machine for a connection to \(place) (\(reason)): its ports may be used up by many "
                + "short connections, or the address can't be reached from here."
        case EACCES, EPERM:
            return "The system doesn't let this process connect to \(place) (\(reason)): check its firewall, and the rights of the process."
        case EINVAL, EAFNOSUPPORT, EPROTONOSUPPORT, ENODEV, ENXIO:
            return "The system takes no connection to \(place) (\(reason)): check the address, and its zone if it has one."
        case ENOBUFS, ENOMEM:
            return "The system has no memory for a connection to \(place) (\(reason))."
        default:
            return proxy.map { nobody(atProxy: $0, to: host) }
                ?? "Nobody answers at \(host): check host and port, and that the service is up."
        }
    }

    /// The proxy that libcurl has tried, if it wasn't the server itself. It says whom it tried ("failed to connect to 10.0.0.1 port 3128 after
    /// …"): where there is a proxy, that; later versions name the server, and the proxy behind it ("failed to connect to service.example port 80
    /// via proxy.example after …").
    private static func proxy(in text: String, otherThan origin: Origin) -> String? {
        let words = text.split(separator: " ")
        if words.count > 8, words[7] == "via" { return String(words[8]) }
        guard text.hasPrefix("failed to connect to "), words.count > 6, words[5] == "port" else { return nil }
        let port = words[6].prefix { $0.isNumber }
        // Both without their zones, of which libcurl may keep none.
        let tried = IPAddress.canonical(String(words[4])).prefix { $0 != "%" }
        let server = IPAddress.canonical(origin.host).prefix { $0 != "%" }
        return tried == server && port == String(origin.port) ? nil : "\(words[4]) port \(port)"
    }

    private static func nobody(atSocket path: String, for host: String, _ error: CurlError) -> TransportError {
        TransportError(
            .cannotConnect,
            "Nobody answers at the socket \(path), where calls to \(host) go: check its path, and that the service is up.",
            underlying: error)
    }

    private static func nobody(atProxy proxy: String, to host: String) -> String {
        "Nobody answers at \(proxy), the proxy on the way to \(host): check the transport's proxy, or http_proxy, https_proxy and all_proxy "
            + "in the environment."
    }

    private static func isUnreadable(_ text: String) -> Bool {
        ["chunk", "hexadecimal", "content-length", "header", "http/0.9"].contains(where: text.contains)
    }
}

// What is wrong with a certificate: the server's, a proxy's, or the client's own.
extension CurlFault {
    /// X.509's verification results, as OpenSSL numbers them.
    static func untrusted(host: String, text: String, verified: Int) -> (TransportError.Code, String) {
        switch verified {
        case 9:
            return (.certificateNotYetValid, "The certificate of \(host) isn't valid yet: check the clock here, and the certificate there.")
        case 10:
            return (.certificateExpired, "The certificate of \(host) has expired: it must be renewed there, or the clock here is wrong.")
        case 2, 18, 19, 20, 21, 24, 27:
            return (
                .unknownIssuer,
                "Nobody who is trusted here vouches for the certificate of \(host) (\(text)): if it is an authority of your own, "
                    + "name it in the trust policy's authorities."
            )
        case CSL_VERIFIED_WITHOUT_NAMES:
            return (
                .certificateForOtherHost,
                "The certificate of \(host) has no subject alternative names, and a common name by itself counts for nothing (RFC 9525): it must "
                    + "be issued with the host's name or address among them."
            )
        case 62:
            return (.certificateForOtherHost, otherHost(host, text))
        default:
            if text.contains("no alternative certificate subject name") || text.contains("does not match") {
                return (.certificateForOtherHost, otherHost(host, text))
            }
            if text.contains("expired") {
                return (.certificateExpired, "The certificate of \(host) has expired (\(text)).")
            }
            return (.tls, "The certificate of \(host) isn't trusted (\(text)).")
        }
    }

    /// What is wrong with the connection to a proxy of scheme `https`.
    static func insecureProxy(
        to host: String, text: String, isCertificate: Bool, verified: Int
    ) -> (TransportError.Code, String) {
        let proxy = "the proxy on the way to \(host)"
        guard isCertificate else { return (.tls, "No secure connection to \(proxy) (\(text)): check that it speaks TLS there.") }
        let (kind, _) = untrusted(host: host, text: text, verified: verified)
        switch kind {
        case .unknownIssuer:
            return (
                kind,
                "Nobody who is trusted here vouches for the certificate of \(proxy) (\(text)): if it is an authority of your own, name it in "
                    + "the transport's proxyAuthorities."
            )
        case .certificateForOtherHost:
            return (kind, "The certificate of \(proxy) is for other hosts (\(text)): check the proxy's name.")
        case .certificateExpired, .certificateNotYetValid:
            return (kind, "The certificate of \(proxy) isn't valid now (\(text)): it must be renewed there, or the clock here is wrong.")
        default:
            return (kind, "The certificate of \(proxy) isn't trusted (\(text)).")
        }
    }

    private static func otherHost(_ host: String, _ text: String) -> String {
        "The certificate at \(host) is for other hosts (\(text)): check the host's name in the service root."
    }

    static func client(host: String, text: String, _ showsIdentity: Bool) -> (TransportError.Code, String) {
        (
            .clientCertificate,
            showsIdentity
                ? "\(host) refuses the certificate of the trust policy's identity (\(text)): check with the service who must have issued it."
                : "\(host) wants a client certificate (\(text)): set the trust policy's identity, which goes to the origin of the service root only."
        )
    }

    /// What OpenSSL and GnuTLS call the alerts by which a server refuses a client's certificate (RFC 8446 §6.2).
    static func isAboutClient(_ text: String) -> Bool {
        [
            "alert bad certificate", "alert certificate", "alert unknown ca", "alert unsupported certificate", "certificate required",
            "alert number 42", "alert number 116",
        ].contains(where: text.contains)
    }
}

/// libcurl's own result, as the cause of a ``TransportError``.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// libcurl's number (`CURLcode`).
    public let code: Int
    /// What libcurl says, without secrets.
    public let text: String

    package init(code: Int, text: String) {
        self.code = code
        self.text = text
    }

    /// Number and text.
    public var description: String { "libcurl \(code): \(text)" }
}

/// The system's libcurl can't be used.
public struct CurlUnavailable: DescribedError, Sendable {
    /// Why, and what to do.
    public let reason: String

    /// The reason, with the way out.
    public var description: String {
        "The transport on libcurl can't be used: \(reason). URLSessionTransport works without it."
    }
}
