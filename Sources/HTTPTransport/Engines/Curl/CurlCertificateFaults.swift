import CSystemLibraries

// Errors of certificates: the server's, a proxy's, or the client's.
extension CurlFault {
    /// Returns the error for one of X.509's verification results, as numbered by OpenSSL.
    static func untrusted(host: String, text: String, verified: Int) -> (TransportError.Code, String) {
        switch verified {
        case 9:
            return (
                .certificateNotYetValid,
                "The certificate of \(host) isn't valid yet: check the clock of this machine, and the "
                    + "certificate."
            )
        case 10:
            return (
                .certificateExpired,
                "The certificate of \(host) has expired: it must be renewed, or the clock of this machine is "
                    + "wrong."
            )
        case 2, 18, 19, 20, 21, 24, 27:
            return (
                .unknownIssuer,
                "No trusted authority issued the certificate of \(host) (\(text)): if the issuer is your own authority, "
                    + "name it in the trust policy's authorities."
            )
        case CSL_VERIFIED_WITHOUT_NAMES:
            return (
                .certificateForOtherHost,
                "The certificate of \(host) has no subject alternative names, and a common name alone isn't sufficient (RFC 9525): it must "
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

    /// Returns the error of a connection to a proxy with the scheme `https`.
    static func insecureProxy(
        to host: String, text: String, isCertificate: Bool, verified: Int
    ) -> (TransportError.Code, String) {
        let proxy = "the proxy for \(host)"
        guard isCertificate else { return (.tls, "No secure connection to \(proxy) (\(text)): check that it supports TLS.") }
        let (kind, _) = untrusted(host: host, text: text, verified: verified)
        switch kind {
        case .unknownIssuer:
            return (
                kind,
                "No trusted authority issued the certificate of \(proxy) (\(text)): if the issuer is your own authority, name it "
                    + "in the transport's proxyAuthorities."
            )
        case .certificateForOtherHost:
            return (kind, "The certificate of \(proxy) is for other hosts (\(text)): check the proxy's name.")
        case .certificateExpired, .certificateNotYetValid:
            return (
                kind,
                "The certificate of \(proxy) isn't valid now (\(text)): it must be renewed, or the clock of this machine is "
                    + "wrong."
            )
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
                ? "\(host) rejects the certificate of the trust policy's identity (\(text)): check with the service which issuers it "
                    + "accepts."
                : "\(host) requires a client certificate (\(text)): set the trust policy's identity, which is presented only to the "
                    + "service root's origin."
        )
    }

    /// Returns whether a text contains OpenSSL's or GnuTLS's name of an alert that rejects a client certificate (RFC 8446 §6.2).
    static func isAboutClient(_ text: String) -> Bool {
        [
            "alert bad certificate", "alert certificate", "alert unknown ca", "alert unsupported certificate", "certificate required",
            "alert number 42", "alert number 116",
        ].contains(where: text.contains)
    }
}
