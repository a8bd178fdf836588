import CSystemLibraries

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
