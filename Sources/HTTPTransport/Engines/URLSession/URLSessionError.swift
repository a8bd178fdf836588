import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransportError {
    /// Converts an error of URLSession.
    ///
    /// Only the code and text of the engine's error are kept: its other entries contain the URL, which may contain secrets.
    init(urlSession error: any Error, host: String, headArrived: Bool) {
        let error = error as? URLError ?? Self.urlError(error as NSError)
        let text = error.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        // Without the host, whose name may contain the words searched for.
        let name = host.lowercased().prefix { $0 != ":" }
        let words = name.isEmpty ? text.lowercased() : text.lowercased().replacingOccurrences(of: name, with: "")
        let code = Self.code(of: error.code, text: words, headArrived: headArrived)
        let kept = URLError(error.code, userInfo: text.isEmpty ? [:] : [NSLocalizedDescriptionKey: text])
        self.init(code, Self.sentence(code, host: host, text: text, number: error.code.rawValue), underlying: kept)
    }

    private static func urlError(_ error: NSError) -> URLError {
        let code: URLError.Code? = error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
        return URLError(code ?? .unknown, userInfo: error.userInfo)
    }

    private static func code(of code: URLError.Code, text: String, headArrived: Bool) -> Code {
        switch code {
        case .cannotFindHost, .dnsLookupFailed:
            return .hostNotFound
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
            // On Linux, the connection refusal may be from an earlier attempt with another address of the host, and the failure from a
            // later one.
            if headArrived { return .truncated }
            return isAboutTLS(text) ? codeAboutTLS(text) : .cannotConnect
        case .networkConnectionLost:
            return headArrived ? .truncated : .connectionLost
        case .timedOut:
            return headArrived ? .timedOutIdle : .timedOutWaiting
        case .serverCertificateHasBadDate:
            return .certificateExpired
        case .serverCertificateNotYetValid:
            return .certificateNotYetValid
        case .serverCertificateHasUnknownRoot:
            return .unknownIssuer
        case .clientCertificateRejected, .clientCertificateRequired:
            return .clientCertificate
        case .secureConnectionFailed, .serverCertificateUntrusted, .appTransportSecurityRequiresSecureConnection:
            return codeAboutTLS(text)
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            return .unreadableResponse
        case .badServerResponse:
            #if canImport(FoundationNetworking)
            return .connectionLost
            #else
            return .unreadableResponse
            #endif
        case .unsupportedURL where text.contains("response") || text.contains("http/0.9"):
            // On Linux: an unknown version or status, or data that doesn't begin like HTTP.
            return .unreadableResponse
        case .badURL, .unsupportedURL, .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
            return .badRequest
        case .dataLengthExceedsMaximum:
            return .unsupported
        case .unknown:
            return self.code(ofText: text, headArrived: headArrived)
        default:
            return .other
        }
    }

    /// On Linux, one code represents many errors, and only libcurl's text distinguishes them.
    private static func code(ofText text: String, headArrived: Bool) -> Code {
        func says(_ words: String...) -> Bool { words.contains(where: text.contains) }
        if says("encoding type", "encoding:", "decompress", "hexadecimal", "chunk", "http/0.9", "weird server", "content-length") {
            return .unreadableResponse
        }
        if headArrived { return .truncated }
        if isAboutTLS(text) { return codeAboutTLS(text) }
        // A header line above 100 kB is reported as out of memory.
        if says("header", "writing output", "out of memory") { return .unreadableResponse }
        if says("connect to", "no route", "unreachable", "couldn't connect") { return .cannotConnect }
        if says("recv failure", "send failure", "closed", "empty reply", "http2", "http/2", "broken pipe", "reset") {
            return .connectionLost
        }
        return .other
    }

    private static func isAboutTLS(_ text: String) -> Bool {
        ["ssl", "tls", "certificate"].contains(where: text.contains)
    }

    /// The words are libcurl's with OpenSSL or GnuTLS; without a match, the error remains a TLS failure.
    private static func codeAboutTLS(_ text: String) -> Code {
        func says(_ words: String...) -> Bool { words.contains(where: text.contains) }
        if says("certificate has expired", "expired certificate") { return .certificateExpired }
        if says("not yet valid", "not yet activated") { return .certificateNotYetValid }
        if says("subject name", "does not match target", "owner does not match") { return .certificateForOtherHost }
        if says("issuer certificate", "self-signed certificate", "self signed certificate", "issuer is unknown", "signer not found") {
            return .unknownIssuer
        }
        if says("certificate required", "alert bad certificate", "alert unknown ca") {
            return .clientCertificate
        }
        return .tls
    }

    private static func sentence(_ code: Code, host: String, text: String, number: Int) -> String {
        let detail = text.isEmpty ? "" : " (\(text))"
        return switch code {
        case .hostNotFound: "The host \(host) has no address: check its name, and whether names can be resolved on this machine."
        case .cannotConnect: "No server answers at \(host): check host and port, and whether the service is running."
        case .connectionLost: noResponse(from: host)
        case .truncated: incomplete(host, detail)
        case .timedOutWaiting: "No connection to \(host), or no response, within the system's time limit."
        case .timedOutIdle: "The response from \(host) paused within its body for longer than the system allows."
        case .certificateExpired: "The certificate of \(host) has expired: the service must renew it."
        case .certificateNotYetValid: "The certificate of \(host) is not valid yet: check the clock of this machine."
        case .certificateForOtherHost: "The certificate of \(host) is for other hosts\(detail): check the host's name."
        case .unknownIssuer: "No authority that the system trusts issued the certificate of \(host)\(detail): check the server's chain."
        case .clientCertificate:
            "\(host) requires a client certificate, or rejects the one presented\(detail): set the trust policy's identity."
        case .tls: "No secure connection to \(host)\(detail): check its certificate, and whether it supports TLS."
        case .unreadableResponse: "The response from \(host) isn't valid HTTP\(detail)."
        case .badRequest: "The request to \(host) is invalid\(detail)."
        case .unsupported: "URLSession doesn't support the request to \(host)\(detail)."
        default: "The exchange with \(host) failed with URLError \(number)\(detail)."
        }
    }
}
