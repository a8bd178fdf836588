import CSystemLibraries

// Errors of certificates: the server's, a proxy's, or the client's.
extension CurlFault {
    /// Returns the error for a result of OpenSSL's certificate verification.
    ///
    /// - Parameter verified: The number of a constant `X509_V_ERR_…`.
    static func untrusted(host: String, text: String, verified: Int) -> (TransportError.Code, String) {
        switch verified {
        // X509_V_ERR_CERT_NOT_YET_VALID.
        case 9:
            return (
                .certificateNotYetValid,
                "The certificate of \(host) isn't valid yet: check this machine's clock; if it is right, the service must install "
                    + "a certificate that is valid already."
            )
        // X509_V_ERR_CERT_HAS_EXPIRED.
        case 10:
            return (
                .certificateExpired,
                "The certificate of \(host) has expired: it must be renewed, or the clock of this machine is "
                    + "wrong."
            )
        // The issuer is missing or self-signed (2, 18 to 21), or isn't an authority that is trusted for servers (24, 27).
        case 2, 18, 19, 20, 21, 24, 27:
            return (
                .unknownIssuer,
                "No trusted authority issued the certificate of \(host) (\(text)): if the issuer is your own authority, "
                    + "add its certificate to the trust policy's authorities."
            )
        case CSL_VERIFIED_WITHOUT_NAMES:
            return (
                .certificateForOtherHost,
                "The certificate of \(host) has no subject alternative names, and a common name alone isn't sufficient (RFC 9525): it must "
                    + "be reissued with the host's name or address as a subject alternative name."
            )
        // X509_V_ERR_HOSTNAME_MISMATCH.
        case 62:
            return (.certificateForOtherHost, otherHost(host, text))
        default:
            if text.contains("no alternative certificate subject name") || text.contains("does not match") {
                return (.certificateForOtherHost, otherHost(host, text))
            }
            if text.contains("expired") {
                return (
                    .certificateExpired,
                    "The certificate of \(host) has expired (\(text)): it must be renewed, or the clock of this machine is wrong."
                )
            }
            return (
                .tls,
                "The certificate of \(host) isn't trusted (\(text)): if the issuer is your own authority, add its certificate to the trust "
                    + "policy's authorities; otherwise the service must install another certificate."
            )
        }
    }

    /// Returns the error of a failed TLS connection to an `https` proxy.
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
                "No trusted authority issued the certificate of \(proxy) (\(text)): if the issuer is your own authority, add "
                    + "its certificate to the transport's proxyAuthorities."
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
            return (
                kind,
                "The certificate of \(proxy) isn't trusted (\(text)): if the issuer is your own authority, add its certificate to the "
                    + "transport's proxyAuthorities; otherwise the proxy must install another certificate."
            )
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
