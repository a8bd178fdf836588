#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

extension TransportError {
    /// Returns the meaning of an error from `HTTPClient`: cancellation and errors of the request's body unchanged, all others as
    /// ``TransportError``.
    static func reading(_ error: any Error, host: String, headArrived: Bool) -> any Error {
        switch error {
        case is CancellationError, is TransportError, is RequestBodyError:
            return error
        case let error as HTTPClientError:
            if error == .cancelled { return CancellationError() }
            return TransportError(code(of: error, headArrived: headArrived), of: error, text: error.shortDescription, host: host)
        case let error as NIOConnectionError:
            return TransportError(code(of: error), of: error, text: text(of: error), host: host)
        case let error as HTTPParserError:
            let isCut = error == .invalidEOFState
            return TransportError(
                isCut ? (headArrived ? .truncated : .connectionLost) : .unreadableResponse, of: error, text: "\(error)", host: host)
        case let error as IOError:
            let isRefused = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(error.errnoCode) && !headArrived
            let code: Code = isRefused ? .cannotConnect : headArrived ? .truncated : .connectionLost
            return TransportError(code, of: error, text: String(cString: strerror(error.errnoCode)), host: host)
        case let error as NIOSSLError:
            return TransportError(code(of: error, headArrived: headArrived), of: error, text: text(of: error), host: host)
        case let error as NIOSSLExtraError:
            let isName = error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
            return TransportError(isName ? .certificateForOtherHost : .tls, of: error, text: "\(error)", host: host)
        case let error as BoringSSLError:
            return TransportError(code(of: .handshakeFailed(error), headArrived: headArrived), of: error, text: "\(error)", host: host)
        case ChannelError.connectTimeout:
            return TransportError(.timedOutConnecting, of: error, text: "", host: host)
        case is ChannelError:
            return TransportError(headArrived ? .truncated : .connectionLost, of: error, text: "\(error)", host: host)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            return TransportError(.unreadableResponse, of: error, text: "\(error)", host: host)
        default:
            // HTTP/2 has many types of errors, all of which end the stream or the connection.
            let isHTTP2 = String(reflecting: type(of: error)).hasPrefix("NIOHTTP2.")
            return TransportError(
                isHTTP2 ? (headArrived ? .truncated : .connectionLost) : .other, of: error, text: "\(error)", host: host)
        }
    }

    private init(_ code: Code, of error: any Error, text: String, host: String) {
        self.init(code, Self.sentence(code, host: host, text: text), underlying: error)
    }

    // MARK: Codes

    private static func code(of error: HTTPClientError, headArrived: Bool) -> Code {
        switch error {
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .traceRequestWithBody, .bodyLengthMismatch:
            .badRequest
        case .connectTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            .timedOutConnecting
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            headArrived ? .timedOutIdle : .timedOutWaiting
        case .remoteConnectionClosed, .uncleanShutdown, .requestStreamCancelled:
            headArrived ? .truncated : .connectionLost
        case .invalidProxyResponse, .proxyAuthenticationRequired:
            .proxyRefused
        default:
            error.shortDescription.hasPrefix("Invalid header") ? .badRequest : .other
        }
    }

    private static func code(of error: NIOConnectionError) -> Code {
        guard error.connectionErrors.isEmpty else {
            let isLate = error.connectionErrors.allSatisfy { failure in
                if case ChannelError.connectTimeout = failure.error { true } else { false }
            }
            return isLate ? .timedOutConnecting : .cannotConnect
        }
        return error.dnsAError == nil && error.dnsAAAAError == nil ? .cannotConnect : .hostNotFound
    }

    private static func code(of error: NIOSSLError, headArrived: Bool) -> Code {
        switch error {
        case .uncleanShutdown:
            return headArrived ? .truncated : .connectionLost
        case .handshakeFailed(let reason):
            let words = "\(reason)".uppercased()
            // Alerts from the server about the client's certificate, not from the client about the server's.
            let isAboutOurs = words.contains("ALERT") && words.contains("CERTIFICATE")
            return isAboutOurs ? .clientCertificate : .tls
        default:
            return headArrived ? .truncated : .tls
        }
    }

    // MARK: Texts

    private static func text(of error: NIOConnectionError) -> String {
        guard let last = error.connectionErrors.last?.error else { return "" }
        guard let last = last as? IOError else { return "\(last)" }
        return String(cString: strerror(last.errnoCode))
    }

    /// BoringSSL's text consists of a number, a path and a line: only the name in it is meaningful.
    private static func text(of error: NIOSSLError) -> String {
        guard case .handshakeFailed(let reason) = error else { return "\(error)" }
        guard case .sslError(let stack) = reason, let first = stack.first else { return "\(reason)" }
        let parts = "\(first)".split(separator: ":")
        guard let name = parts.first(where: { $0.contains("_") && !$0.contains("/") && $0 != "OPENSSL_internal" }) else {
            return "\(first)"
        }
        return String(name.prefix { $0 != " " })
    }

    private static func sentence(_ code: Code, host: String, text: String) -> String {
        let detail = text.isEmpty ? "" : " (\(text))"
        return switch code {
        case .hostNotFound: "The host \(host) has no address: check its name, and whether names can be resolved on this machine."
        case .cannotConnect: "No server answers at \(host)\(detail): check host and port, and whether the service is running."
        case .connectionLost: noResponse(from: host, detail)
        case .truncated: incomplete(host, detail)
        case .timedOutConnecting:
            "No connection to \(host) was established within the HTTPClient's timeout.connect\(detail): is it reachable?"
        case .timedOutWaiting:
            "No response from \(host) within the time that the HTTPClient's configuration allows\(detail): is the service up?"
        case .timedOutIdle: "The response from \(host) paused for longer than the HTTPClient's configuration allows\(detail)."
        case .tls: "No secure connection to \(host)\(detail): check its certificate and the issuer, and whether it supports TLS."
        case .certificateForOtherHost: "The certificate of \(host) is for other hosts: check the name, or the server's certificate."
        case .clientCertificate:
            "\(host) requires a client certificate, or rejects the one presented\(detail): set it in the HTTPClient's tlsConfiguration."
        case .unreadableResponse: "The response from \(host) isn't valid HTTP\(detail)."
        case .badRequest: "The request to \(host) is invalid\(detail)."
        default: "The exchange with \(host) failed\(detail)."
        }
    }
}
#endif
