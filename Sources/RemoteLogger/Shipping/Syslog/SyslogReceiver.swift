public import Foundation

/// Where syslog messages go: over TCP, or over TLS (RFC 5425), with octet counting.
///
///     let plain = SyslogReceiver(host: "logs.example.com")
///     let secure = SyslogReceiver.tls(host: "logs.example.com")
///     let configured = try SyslogReceiver(URL(string: "syslog+tls://logs.example.com:6514")!)
public struct SyslogReceiver: Sendable, Hashable, CustomStringConvertible {
    /// The host's name or address. Over TLS the receiver's certificate must be for it.
    public var host: String
    /// The port: unless set 601 over TCP, and 6514 over TLS, which are IANA's.
    public var port: UInt16
    /// Whether the connection is secured by TLS, 1.2 or later; setting it leaves the port as it is. Whom to trust, who to be, and the lowest
    /// version of TLS are ``ShippingSettings/trust``, which a receiver without TLS refuses.
    public var usesTLS = false
    /// For how long the connection has to live after messages were sent, until which they are kept in memory, to be sent again on the next
    /// connection if it breaks; however long it is until then. 5 seconds unless set. A receiver that ends idle connections sooner gets the
    /// last messages again, five times at most.
    public var resendWindow = Duration.seconds(5)
    /// The most bytes that are kept for it: 4 MiB unless set.
    public var resendBytes = 4 << 20

    /// A receiver over plain TCP.
    public init(host: String, port: UInt16 = 601) {
        self.host = host
        self.port = port
    }

    /// A receiver over TLS, for which the system's libcurl is needed.
    public static func tls(host: String, port: UInt16 = 6514) -> SyslogReceiver {
        var receiver = SyslogReceiver(host: host, port: port)
        receiver.usesTLS = true
        return receiver
    }

    /// The receiver that a URL names: `syslog+tcp://host:601` or `syslog+tls://host:6514`, where the port may be left out.
    ///
    /// - Throws: ``LogShipperError`` for another scheme, without a host, and with anything behind the port or before the host.
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
                message: "A syslog receiver is named by syslog+tcp://host:port or syslog+tls://host:port, and by no more.")
        }
        if self.host.hasPrefix("["), self.host.hasSuffix("]") { self.host = String(self.host.dropFirst().dropLast()) }
    }

    /// The receiver as a URL.
    public var description: String {
        "syslog+\(usesTLS ? "tls" : "tcp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension LogShipper {
    /// A shipper of syslog messages.
    ///
    /// Syslog has no acknowledgement. A batch counts as delivered when the receiver's system has confirmed all of its bytes (TCP), which a
    /// receiver that crashes right then may still lose: when a connection breaks, what was sent within ``SyslogReceiver/resendWindow``
    /// before is sent again, which may deliver it twice. ``ShippingSettings/timeout`` is how long the receiver may take nothing. Of the settings
    /// those about HTTP have no meaning here.
    ///
    /// - Throws: ``LogShipperError`` when the settings can't be used; over TLS also where libcurl is missing, or can't do what
    ///   ``ShippingSettings/trust`` asks for.
    public convenience init(
        toSyslog receiver: SyslogReceiver, format: SyslogFormat, configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        var settings = ShippingSettings()
        configure(&settings)
        settings.compression = .none
        // A connection has an order of its own.
        settings.maximumRequestsInFlight = 1
        guard !receiver.host.isEmpty, receiver.port > 0 else {
            throw LogShipperError(message: "A syslog receiver needs a host and a port above 0.")
        }
        let sender = try SyslogSender(receiver: receiver, settings: settings)
        self.init(format: format, sender: sender, settings: settings, store: try Self.store(settings))
    }
}
