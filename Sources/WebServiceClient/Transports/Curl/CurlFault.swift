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
        if let socket = exchange.transfer.loop?.settings.configuration.unixSocket, Int(code) == CSL_RESULT_CANNOT_CONNECT {
            return nobody(atSocket: socket, for: exchange.request.host, CurlError(code: Int(code), text: handle.errorText))
        }
        var error = error(
            code, text: handle.errorText, host: exchange.request.host, hasHead: exchange.transfer.hasHead,
            showsIdentity: exchange.trust.hasIdentity, handle.easy)
        error.isConnectionStale =
            error.code == .connectionLost && exchange.transfer.isConnected && exchange.transfer.heads.isEmpty
            && csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) == 0
        return error
    }

    /// The error that a result other than the good one stands for.
    ///
    /// - Parameter text: what libcurl says of it; empty when nothing.
    static func error(
        _ code: Int32, text: String, host: String, hasHead: Bool = false, showsIdentity: Bool, _ easy: OpaquePointer
    ) -> TransportError {
        let text = withoutUserInfo(text.isEmpty ? csl_easy_error_text(code).map { String(cString: $0) } ?? "" : text)
        // Set from the start of a proxy's handshake until its certificate has been found good.
        let proxy = csl_easy_get_long(easy, CSL_INFO_PROXY_TLS_VERIFY_RESULT)
        let isProxy = proxy > 0 && [CSL_RESULT_PEER_NOT_VERIFIED, CSL_RESULT_TLS_CONNECT].contains(Int(code))
        let (kind, sentence) =
            isProxy
            ? insecureProxy(to: host, text: text.lowercased(), isCertificate: Int(code) == CSL_RESULT_PEER_NOT_VERIFIED, verified: proxy)
            : meaning(
                Int(code), text: text.lowercased(), host: host, hasHead: hasHead, showsIdentity: showsIdentity,
                verified: csl_easy_get_long(easy, CSL_INFO_TLS_VERIFY_RESULT))
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

    private static func meaning(
        _ code: Int, text: String, host: String, hasHead: Bool, showsIdentity: Bool, verified: Int
    ) -> (TransportError.Code, String) {
        // Where a library shows no heads of proxies: see CurlSettings.
        if !hasHead, text.contains("from proxy after connect") {
            return (.proxyRefused, "The proxy on the way to \(host) refuses to connect to it (\(text)).")
        }
        switch code {
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
        case CSL_RESULT_CANNOT_CONNECT:
            return (.cannotConnect, nobody(at: host, text))
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
        case CSL_RESULT_WEIRD_SERVER_REPLY, CSL_RESULT_UNSUPPORTED_PROTOCOL, CSL_RESULT_OUT_OF_MEMORY:
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

    /// libcurl says whom it tried ("failed to connect to 10.0.0.1 port 3128 after …"): where there is a proxy, that; later versions name the
    /// server, and the proxy behind it ("failed to connect to service.example port 80 via proxy.example after …").
    private static func nobody(at host: String, _ text: String) -> String {
        let words = text.split(separator: " ")
        if words.count > 8, words[7] == "via" { return nobody(atProxy: String(words[8]), to: host) }
        let port = words.count > 6 && words[5] == "port" ? words[6].prefix { $0.isNumber } : ""
        let server = host.lowercased().filter { $0 != "[" && $0 != "]" }
        guard !port.isEmpty, text.hasPrefix("failed to connect to "), server != words[4], server != "\(words[4]):\(port)" else {
            return "Nobody answers at \(host): check host and port, and that the service is up."
        }
        return nobody(atProxy: "\(words[4]) port \(port)", to: host)
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
