import CSystemLibraries

/// The times and bytes of an exchange as libcurl counts them: microseconds from the moment it got the request.
struct CurlMetrics: Sendable {
    private var nameLookup: Int64 = 0
    private var connect: Int64 = 0
    private var secureConnect: Int64 = 0
    private var firstByte: Int64 = 0
    private var total: Int64 = 0
    private var bytesSent: Int64 = 0
    private var bytesReceived: Int64 = 0
    private var isReused: Bool?
    private var host = ""
    private var port = 0
    private var tlsVersion: String?
    private var unixSocket: String?
    /// From the moment the transport took the request on to the one libcurl got it.
    private var waited = Duration.zero
    private var isComplete = false

    /// Nothing is known.
    init() {}

    /// Asks a transfer.
    ///
    /// - Parameters:
    ///   - unixSocket: where all connections go, if not to hosts.
    ///   - isComplete: whether the transfer has ended.
    init(_ easy: OpaquePointer, waited: Duration, tlsVersion: String?, unixSocket: String?, isComplete: Bool) {
        self.waited = waited
        self.unixSocket = unixSocket
        self.tlsVersion = tlsVersion
        self.isComplete = isComplete
        let isReused = csl_easy_get_long(easy, CSL_INFO_NEW_CONNECTIONS) == 0
        self.isReused = isReused
        // Where a connection is used again, libcurl leaves the times as they were.
        if !isReused {
            nameLookup = csl_easy_get_size(easy, CSL_INFO_NAME_LOOKUP_TIME)
            connect = csl_easy_get_size(easy, CSL_INFO_CONNECT_TIME)
            secureConnect = csl_easy_get_size(easy, CSL_INFO_SECURE_CONNECT_TIME)
        }
        firstByte = csl_easy_get_size(easy, CSL_INFO_FIRST_BYTE_TIME)
        total = csl_easy_get_size(easy, CSL_INFO_TOTAL_TIME)
        bytesSent = csl_easy_get_size(easy, CSL_INFO_BYTES_SENT)
        bytesReceived = csl_easy_get_size(easy, CSL_INFO_BYTES_RECEIVED)
        host = csl_easy_get_text(easy, CSL_INFO_REMOTE_ADDRESS).map { String(cString: $0) } ?? ""
        port = csl_easy_get_long(easy, CSL_INFO_REMOTE_PORT)
    }

    /// Host and port; the path of a Unix-domain socket, of which libcurl tells the beginning only, with the port of the scheme.
    private var address: String? {
        if host.isEmpty { return nil }
        return unixSocket ?? (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }

    /// The same as a value of the interface.
    var value: ExchangeMetrics {
        var metrics = ExchangeMetrics()
        guard firstByte > 0 || isComplete else { return metrics }
        func time(_ microseconds: Int64) -> Duration { waited + .microseconds(microseconds) }
        metrics.nameLookup = isReused == true ? .zero : time(nameLookup)
        metrics.connect = isReused == true ? .zero : time(connect)
        metrics.secureConnect = isReused == true || secureConnect == 0 ? .zero : time(secureConnect)
        metrics.firstByte = firstByte > 0 ? time(firstByte) : nil
        metrics.total = isComplete ? time(total) : nil
        metrics.bytesSent = bytesSent
        metrics.bytesReceived = bytesReceived
        metrics.isConnectionReused = isReused
        metrics.remoteAddress = address
        metrics.tlsVersion = tlsVersion
        return metrics
    }
}
