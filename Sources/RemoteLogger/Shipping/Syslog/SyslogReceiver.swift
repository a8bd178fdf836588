public import Foundation

/// A receiver of syslog messages over TCP or TLS (RFC 5425), with octet counting.
///
///     let plain = SyslogReceiver(host: "logs.example.com")
///     let secure = SyslogReceiver.tls(host: "logs.example.com")
///     let configured = try SyslogReceiver(URL(string: "syslog+tls://logs.example.com:6514")!)
public struct SyslogReceiver: Sendable, Hashable, CustomStringConvertible {
    /// The host's name or address. For TLS, the receiver's certificate must match it.
    public var host: String
    /// The port. The defaults are IANA's: 601 for TCP and 6514 for TLS.
    public var port: UInt16
    /// Whether the connection uses TLS 1.2 or later; setting it doesn't change the port. ``ShippingSettings/trust`` sets the trusted
    /// authorities, the client identity, and the minimum TLS version; setting it for a receiver without TLS is an error.
    public var usesTLS = false
    /// The time that a connection must survive after messages are sent before they are forgotten. Until then they are kept in memory, and
    /// sent again on the next connection if this one breaks, however long that takes. Default 5 seconds. A receiver that closes idle
    /// connections sooner gets the last messages again, at most five times.
    public var resendWindow = Duration.seconds(5)
    /// The maximum size of the messages kept for this, in bytes. Default 4 MiB.
    public var resendBytes = 4 << 20

    /// Creates a receiver over plain TCP.
    public init(host: String, port: UInt16 = 601) {
        self.host = host
        self.port = port
    }

    /// Creates a receiver over TLS, which requires the system's libcurl.
    public static func tls(host: String, port: UInt16 = 6514) -> SyslogReceiver {
        var receiver = SyslogReceiver(host: host, port: port)
        receiver.usesTLS = true
        return receiver
    }

    /// Creates a receiver from a URL: `syslog+tcp://host:601` or `syslog+tls://host:6514`, where the port is optional.
    ///
    /// - Throws: ``LogShipperError`` if the scheme is another one, the host is missing, or the URL has anything else.
    public init(_ url: URL) throws(LogShipperError) {
        let host = url.host(percentEncoded: false) ?? ""
        let isPlace =
            ["", "/"].contains(url.path(percentEncoded: true)) && url.query == nil && url.fragment == nil && url.user == nil
            && url.password == nil && !host.isEmpty
        let port = url.port.map { UInt16(exactly: $0) ?? 0 }
        switch url.scheme?.lowercased() {
        case "syslog+tcp" where isPlace && port != 0: self.init(host: host, port: port ?? 601)
        case "syslog+tls" where isPlace && port != 0: self = .tls(host: host, port: port ?? 6514)
        default:
            throw LogShipperError(
                message: "A syslog receiver's URL must be syslog+tcp://host:port or syslog+tls://host:port, without other parts.")
        }
        if self.host.hasPrefix("["), self.host.hasSuffix("]") { self.host = String(self.host.dropFirst().dropLast()) }
    }

    /// The receiver as a URL.
    public var description: String {
        "syslog+\(usesTLS ? "tls" : "tcp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension LogShipper {
    /// Creates a shipper of syslog messages.
    ///
    /// Syslog has no acknowledgements. A batch counts as delivered when the receiver's system has confirmed all of its bytes (TCP). A
    /// receiver that crashes right then may still lose them. After a connection breaks, the messages of the last
    /// ``SyslogReceiver/resendWindow`` are therefore sent again, which may deliver them twice. ``ShippingSettings/timeout`` is the maximum
    /// time without progress. Settings for HTTP have no effect.
    ///
    /// - Throws: ``LogShipperError`` if the settings can't be used; with TLS also if libcurl is missing or doesn't support
    ///   ``ShippingSettings/trust``.
    public convenience init(
        toSyslog receiver: SyslogReceiver, format: SyslogFormat, configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        var settings = ShippingSettings()
        configure(&settings)
        settings.compression = .none
        // A connection transmits in order.
        settings.maximumRequestsInFlight = 1
        guard !receiver.host.isEmpty, receiver.port > 0 else {
            throw LogShipperError(message: "A syslog receiver needs a host and a port above 0.")
        }
        let sender = try SyslogSender(receiver: receiver, settings: settings)
        self.init(format: format, sender: sender, settings: settings, store: try Self.store(settings))
    }
}
