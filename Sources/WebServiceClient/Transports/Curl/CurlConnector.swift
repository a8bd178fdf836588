import CSystemLibraries
import Foundation

/// Makes secure connections to one host that carry another protocol than HTTP, such as syslog over TLS (RFC 5425).
///
/// libcurl finds the host, connects, shakes hands and checks whom it has reached, with the same trust as ``CurlTransport``; then it steps aside
/// and only ciphers. There is no proxy on the way, whatever the environment says, and no protocol is offered by ALPN.
package struct CurlConnector: Sendable {
    let settings: CurlSettings
    let trust: CurlTrust
    let origin: Origin
    /// Where libcurl is told to connect to; of the scheme it takes the TLS only.
    let url: String

    /// Prepares connections to a host, by its name or its address.
    ///
    /// - Throws: ``TransportError``: `unsupported` where there is no libcurl, or none that can do what the trust policy asks for; `badRequest`
    ///   for what is no host or no port, and for a policy that can't be right.
    package init(host: String, port: UInt16, trust policy: TrustPolicy) throws(TransportError) {
        let library: CurlLibrary
        do {
            library = try CurlLibrary.open()
        } catch {
            throw TransportError(.unsupported, "A secure connection that isn't HTTP needs libcurl: \(error.reason).", underlying: error)
        }
        guard library.features.contains(.tls) else {
            throw TransportError(.unsupported, "libcurl \(library.version) was built without TLS: install one that has it.")
        }
        let isAddress =
            host.contains(":") && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            && host.split(separator: ":", omittingEmptySubsequences: false).count > 2
        let name = isAddress ? "[\(host)]" : host
        guard port > 0, let url = URL(string: "https://\(name):\(port)/"), let origin = Origin(url), origin.port == Int(port),
            url.path(percentEncoded: true) == "/", url.query == nil, url.fragment == nil, url.user == nil, url.password == nil
        else {
            throw TransportError(
                .badRequest,
                "\"\(host.prefix(100))\" with port \(port) is no place to connect to: give a host's name or address, and a port.")
        }
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http1
        configuration.proxy = .none
        settings = try CurlSettings(library: library, configuration: configuration)
        trust = try CurlTrust(policy, library: library)
        self.origin = origin
        self.url = url.absoluteString
    }

    /// A connection, which isn't open yet.
    ///
    /// - Throws: ``TransportError`` when there is no memory.
    package func connection() throws(TransportError) -> CurlConnection {
        try CurlConnection(self)
    }
}
