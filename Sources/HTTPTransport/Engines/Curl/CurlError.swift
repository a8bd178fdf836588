import CSystemLibraries
import Foundation

/// libcurl's result, as the cause of a ``TransportError``.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// libcurl's number (`CURLcode`).
    public let code: Int
    /// libcurl's text, without secrets.
    public let text: String

    package init(code: Int, text: String) {
        self.code = code
        self.text = text
    }

    /// The number and the text.
    public var description: String { "libcurl \(code): \(text)" }
}

/// The meaning of libcurl's results.
enum CurlFault {
    /// Returns the text for a result of a set of transfers.
    static func text(ofSet code: Int32) -> String {
        csl_multi_error_text(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// Returns the error of a transfer that ended with a result; `nil` for success.
    static func error(_ code: Int32, of exchange: CurlExchange, _ handle: CurlHandle) -> (any Error)? {
        guard code != CSL_RESULT_OK else { return nil }
        let isConnecting = [CSL_RESULT_CANNOT_CONNECT, CSL_RESULT_HOST_NOT_RESOLVED, CSL_RESULT_PROXY_NOT_RESOLVED].contains(Int(code))
        // The request was sent, and libcurl would have sent it again.
        if isConnecting, exchange.transfer.isConnected { return stale(exchange.request.host) }
        let settings = exchange.transfer.loop?.settings
        let isShort = DescriptorShortage.sentence(for: exchange.transfer.socketError ?? 0) != nil
        if let socket = settings?.configuration.unixSocket, Int(code) == CSL_RESULT_CANNOT_CONNECT, !isShort {
            return noServer(atSocket: socket, for: exchange.request.host, CurlError(code: Int(code), text: handle.errorText))
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

    /// Returns the error for a result other than success.
    ///
    /// - Parameters:
    ///   - text: libcurl's description of the error; empty if there is none.
    ///   - proxy: The proxy that connections may use; `nil` if there is none.
    ///   - socketError: The system's error when opening the socket; 0 if it succeeded.
    static func error(
        _ code: Int32, text: String, at origin: Origin, isConnected: Bool = false, hasHead: Bool = false, showsIdentity: Bool,
        proxy: String? = nil, socketError: Int32 = 0, _ easy: OpaquePointer
    ) -> TransportError {
        let host = origin.authority
        let text = withoutUserInfo(text.isEmpty ? csl_easy_error_text(code).map { String(cString: $0) } ?? "" : text)
        let verified = csl_easy_get_long(easy, CSL_INFO_TLS_VERIFY_RESULT)
        if !isConnected, let sentence = shortage(Int(code), verified: verified, socketError) {
            let place = "No connection to \(host) can be established now."
            return TransportError(.cannotConnect, "\(place) \(sentence)", underlying: CurlError(code: Int(code), text: text))
        }
        // Set from the start of a proxy's handshake until its certificate has been verified.
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
            .proxyRefused,
            "The proxy for \(host) refuses to connect to it, with status \(status): check whether the proxy allows the "
                + "host.")
    }

    /// A reused connection had already ended.
    static func stale(_ host: String) -> TransportError {
        var error = TransportError(.connectionLost, TransportError.noResponse(from: host))
        error.isConnectionStale = true
        return error
    }

    /// A line after the body isn't a field.
    static func badTrailer(from host: String) -> TransportError {
        TransportError(
            .unreadableResponse,
            "The response from \(host) isn't valid HTTP: a line in its trailers isn't a field, which is a name with a colon and a value.")
    }

    /// The first header line begins with whitespace.
    static func badFirstLine(from host: String) -> TransportError {
        TransportError(
            .unreadableResponse,
            "The response from \(host) isn't valid HTTP: its first header line begins with whitespace (RFC 9112 §5.2).")
    }

    /// A secure connection ended without close_notify, and the body ends with it.
    static func unannouncedEnd(of host: String) -> TransportError {
        TransportError(
            .truncated,
            "The response from \(host) may be cut off: its head has no length, and the connection ended without TLS's close_notify "
                + "(RFC 9112 §8). If the server is known to do that, set CurlTransport.Configuration.acceptsUnannouncedEnds.")
    }

    /// Returns whether libcurl reports that a connection ended without TLS's close_notify: later versions do, and all versions with GnuTLS.
    static func isUnannouncedEnd(_ code: Int32, _ text: String) -> Bool {
        code == CSL_RESULT_RECEIVE_ERROR
            && ["unexpected eof while reading", "non-properly terminated"].contains(where: text.lowercased().contains)
    }

    /// An HTTP/2 server processed nothing of a request (RFC 9113 §8.7).
    static func refused(by host: String) -> TransportError {
        var error = TransportError(
            .connectionLost, "\(host) refused the request before processing any of it: the request may be sent again.")
        error.isConnectionStale = true
        error.isUnprocessed = true
        return error
    }

    /// An HTTP/2 server accepts this request only over HTTP/1.1 (RFC 9113 §7, `HTTP_1_1_REQUIRED`).
    static func needsHTTP1(_ host: String) -> TransportError {
        var error = TransportError(
            .connectionLost,
            "\(host) accepts the request only over HTTP/1.1, and has processed nothing of it: sent again, it uses HTTP/1.1. The "
                + "transport's httpVersion .http1 uses that from the start.")
        error.isConnectionStale = true
        error.isUnprocessed = true
        return error
    }

    /// Returns whether libcurl resends a request because the server requires HTTP/1.1, according to the text of the first attempt. On a new
    /// connection, 7.88 may report an empty reply, which otherwise isn't a reason to resend anything.
    static func asksForHTTP1(_ text: String) -> Bool {
        text.contains("HTTP_1_1_REQUIRED") || text.hasPrefix("Empty reply")
    }

    /// A server rejects a request because of its `Expect`, before the body was sent.
    static func expectationFailed(at host: String) -> TransportError {
        TransportError(
            .truncated,
            "\(host) answered the request's Expect with 417, and libcurl discards the body of such a response: omit Expect.",
            underlying: ExpectationFailed())
    }

    /// A response ended within its body.
    static func brokenOff(_ host: String, _ text: String) -> TransportError {
        let reason = text.isEmpty ? "" : " (\(withoutUserInfo(text).lowercased()))"
        return TransportError(.truncated, TransportError.incomplete(host, reason))
    }

    /// The connection ended before the head was complete, although libcurl reports no error.
    static func noHead(of host: String) -> TransportError {
        TransportError(
            .connectionLost, "\(host) closed the connection within the head of its response: an idempotent request can be repeated.")
    }

    /// Removes credentials: libcurl quotes the URL of a proxy that it can't use, including the password.
    private static func withoutUserInfo(_ text: String) -> String {
        guard let end = text.lastIndex(of: "@") else { return text }
        let start = text.range(of: "://")?.upperBound ?? text.firstIndex(of: "'").map(text.index(after:)) ?? text.startIndex
        return start < end ? text.replacingCharacters(in: start..<end, with: SecretMask.mask) : text
    }

    /// The queue of an origin is full.
    static func queueIsFull(of host: String, _ most: Int?) -> TransportError {
        TransportError(
            .tooManyWaiting,
            "The call to \(host) was not sent: \(most ?? 0) others are already queued for it, the maximum that "
                + "maximumWaitingExchangesPerOrigin allows. Make fewer calls at once, or raise it.")
    }

    /// The guard closed a connection because libcurl didn't return from reading it.
    static func endless(_ host: String, isOfProxy: Bool) -> TransportError {
        TransportError(
            .unreadableResponse,
            "\(isOfProxy ? "The proxy for " : "")\(host) kept the transport busy with endless useless data, such as a flood of empty "
                + "frames: the connection was closed.")
    }

    /// Returns the error for a shortage of descriptors or threads in this process, before there was a connection.
    private static func shortage(_ code: Int, verified: Int, _ socketError: Int32) -> String? {
        if let sentence = DescriptorShortage.sentence(for: socketError) { return sentence }
        // Resolving a name needs a socket, and finding an issuer needs the file of authorities; libcurl reports neither as the cause.
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
        // For libraries that don't deliver the heads of proxies: see CurlSettings.
        if !hasHead, text.contains("from proxy after connect") {
            return (.proxyRefused, "The proxy for \(host) refuses to connect to it (\(text)).")
        }
        if isConnected, text.contains("out of memory in chunked") { return (.unreadableResponse, lineTooLong("trailers", host)) }
        switch code {
        case CSL_RESULT_HOST_NOT_RESOLVED where text.contains("thread"), CSL_RESULT_PROXY_NOT_RESOLVED where text.contains("thread"):
            return (
                .cannotConnect,
                "The name \(host) can't be resolved now (\(text)): no thread can be started for it, because too many are running."
            )
        case CSL_RESULT_HOST_NOT_RESOLVED:
            return (.hostNotFound, "The host \(host) has no address: check its name, and whether names can be resolved on this machine.")
        case CSL_RESULT_PROXY_NOT_RESOLVED:
            return (
                .hostNotFound,
                "The proxy for \(host) has no address (\(text)): check its name in the transport's proxy, or in http_proxy, "
                    + "https_proxy and all_proxy in the environment."
            )
        case CSL_RESULT_CANNOT_CONNECT where text.contains("proxy scheme"):
            return (
                .cannotConnect,
                "The proxy for \(host) can't be used (\(text)): check https_proxy and similar variables in the environment."
            )
        case CSL_RESULT_PROXY:
            return (.cannotConnect, "The proxy for \(host) refuses (\(text)).")
        case CSL_RESULT_TIMED_OUT:
            return (.cannotConnect, "No connection to \(host) was established within the system's time limit (\(text)).")
        case CSL_RESULT_PEER_NOT_VERIFIED:
            return untrusted(host: host, text: text, verified: verified)
        case CSL_RESULT_CLIENT_CERTIFICATE, CSL_RESULT_TLS_CLIENT_CERTIFICATE:
            return (
                .clientCertificate,
                "The client's certificate for \(host) can't be used (\(text)): check the certificate, key and "
                    + "passphrase."
            )
        case CSL_RESULT_TLS_CONNECT, CSL_RESULT_TLS_CIPHER, CSL_RESULT_TLS_SHUTDOWN, CSL_RESULT_ISSUER, CSL_RESULT_AUTHORITIES_FILE:
            if isAboutClient(text) { return client(host: host, text: text, showsIdentity) }
            return (
                .tls,
                "No secure connection to \(host) was established (\(text)): check whether it supports TLS, and which versions. Some "
                    + "servers end the handshake if they require a client certificate."
            )
        case CSL_RESULT_PARTIAL:
            guard hasHead else { return (.connectionLost, noHead(of: host).message) }
            return (.truncated, TransportError.incomplete(host, " (\(text))"))
        case CSL_RESULT_GOT_NOTHING:
            return (.connectionLost, TransportError.noResponse(from: host))
        case CSL_RESULT_SEND_ERROR, CSL_RESULT_RECEIVE_ERROR, CSL_RESULT_HTTP2, CSL_RESULT_HTTP2_STREAM, CSL_RESULT_SEND_REWIND:
            if isAboutClient(text) { return client(host: host, text: text, showsIdentity) }
            if isUnreadable(text) { return (.unreadableResponse, "The response from \(host) isn't valid HTTP (\(text)).") }
            if hasHead { return (.truncated, brokenOff(host, text).message) }
            return (.connectionLost, TransportError.noResponse(from: host, " (\(text))"))
        case CSL_RESULT_UNSUPPORTED_PROTOCOL where text.contains("not supported or disabled"):
            return (.unsupported, "This libcurl can't be used for the call to \(host) (\(text)): install one that was built with TLS.")
        case CSL_RESULT_OUT_OF_MEMORY where !isConnected, CSL_RESULT_TOO_LARGE where !isConnected:
            // The same limit applies to a proxy's response.
            return (
                .other, "libcurl has no memory for the call to \(host), or a proxy sent a line of more than 100 kB."
            )
        case CSL_RESULT_OUT_OF_MEMORY, CSL_RESULT_TOO_LARGE:
            return (.unreadableResponse, lineTooLong(hasHead ? "trailers" : "head", host))
        case CSL_RESULT_WEIRD_SERVER_REPLY where text.contains("http/0.9"), CSL_RESULT_UNSUPPORTED_PROTOCOL where text.contains("http/0.9"):
            // The response doesn't begin with a status line.
            return (
                .unreadableResponse,
                "The response from \(host) isn't valid HTTP (\(text)): check the port, and whether the URL must begin with https."
            )
        case CSL_RESULT_WEIRD_SERVER_REPLY, CSL_RESULT_UNSUPPORTED_PROTOCOL:
            return (.unreadableResponse, "The response from \(host) isn't valid HTTP (\(text)).")
        case CSL_RESULT_BAD_ARGUMENT where hasHead:
            return (.unreadableResponse, badTrailer(from: host).message)
        case CSL_RESULT_BAD_ARGUMENT:
            // The first field line of a head begins with whitespace: older libraries accept it, but this transport doesn't.
            return (.unreadableResponse, badFirstLine(from: host).message)
        case CSL_RESULT_BAD_CONTENT_ENCODING:
            return (
                .unreadableResponse,
                "The body from \(host) can't be decoded (\(text)): its Transfer-Encoding is unknown or damaged."
            )
        case CSL_RESULT_WRITE_ERROR:
            return (.unreadableResponse, "The response from \(host) can't be received (\(text)).")
        case CSL_RESULT_BAD_URL:
            return (.badRequest, "The URL of the request to \(host) isn't accepted by libcurl (\(text)).")
        case _ where isUnreadable(text):
            return (.unreadableResponse, "The response from \(host) isn't valid HTTP (\(text)).")
        default:
            return (.other, "The exchange with \(host) failed with libcurl's error \(code) (\(text)).")
        }
    }

    /// The text for a line that is too long, which libcurl reports as a lack of memory.
    private static func lineTooLong(_ part: String, _ host: String) -> String {
        "A line in the \(part) of the response from \(host) exceeds libcurl's limit, which is 100 kB in a head and 4 kB in trailers: the "
            + "service must send less."
    }

    /// No connection could be established.
    private static func unreachable(_ origin: Origin, _ text: String, mayUseProxy: Bool, systemError: Int32) -> String {
        let host = origin.authority
        let proxy = mayUseProxy ? proxy(in: text, otherThan: origin) : nil
        let place = proxy.map { "\($0), the proxy for \(host)" } ?? host
        let reason = String(cString: strerror(systemError)).lowercased()
        switch systemError {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN:
            return "There is no route to \(place) (\(reason)): check the network of this machine, and the address."
        case EADDRNOTAVAIL:
            return "The system has no local address for a connection to \(place) (\(reason)): many short connections may have used up its "
                + "ports, or the address can't be reached from this machine."
        case EACCES, EPERM:
            return "The system doesn't allow this process to connect to \(place) (\(reason)): check the firewall and the permissions of "
                + "the process."
        case EINVAL, EAFNOSUPPORT, EPROTONOSUPPORT, ENODEV, ENXIO:
            return "The system rejects the connection to \(place) (\(reason)): check the address, and its zone if it has one."
        case ENOBUFS, ENOMEM:
            return "The system has no memory for a connection to \(place) (\(reason))."
        default:
            return proxy.map { noServer(atProxy: $0, to: host) }
                ?? "No server answers at \(host): check host and port, and whether the service is running."
        }
    }

    /// Returns the proxy to which libcurl tried to connect; `nil` if that was the server itself. The text names the peer ("failed to
    /// connect to 10.0.0.1 port 3128 after …"), which is the proxy if there is one; later versions name the server and then the proxy
    /// ("failed to connect to service.example port 80 via proxy.example after …").
    private static func proxy(in text: String, otherThan origin: Origin) -> String? {
        let words = text.split(separator: " ")
        if words.count > 8, words[7] == "via" { return String(words[8]) }
        guard text.hasPrefix("failed to connect to "), words.count > 6, words[5] == "port" else { return nil }
        let port = words[6].prefix { $0.isNumber }
        // Both without their zones, which libcurl may omit.
        let tried = IPAddress.canonical(String(words[4])).prefix { $0 != "%" }
        let server = IPAddress.canonical(origin.host).prefix { $0 != "%" }
        return tried == server && port == String(origin.port) ? nil : "\(words[4]) port \(port)"
    }

    static func noServer(atSocket path: String, for host: String, _ error: CurlError) -> TransportError {
        TransportError(
            .cannotConnect,
            "No server answers at the socket \(path) for calls to \(host): check its path, and whether the service is running.",
            underlying: error)
    }

    private static func noServer(atProxy proxy: String, to host: String) -> String {
        "No server answers at \(proxy), the proxy for \(host): check the transport's proxy, or http_proxy, https_proxy and all_proxy "
            + "in the environment."
    }

    private static func isUnreadable(_ text: String) -> Bool {
        ["chunk", "hexadecimal", "content-length", "header", "http/0.9"].contains(where: text.contains)
    }
}
