import CSystemLibraries

/// The loop's part of an exchange, accessed only by the loop's owner.
struct CurlTransfer {
    /// The loop that has the exchange. Unsafe, because counting references costs more than the access. Only the loop's owner reads it, and
    /// after the loop's end there is none.
    unowned(unsafe) var loop: CurlLoop?
    /// The lane of its origin.
    var lane: CurlLanes<CurlExchange>.Lane?
    /// The handle while libcurl has the exchange.
    var handle: CurlHandle?
    /// The pool whose connections it uses; `nil` for the common connections.
    var pool: Int?
    /// The index in the loop's list.
    var index = 0
    /// The received header lines.
    var heads = CurlHeadReader()
    /// Whether the connection is established.
    var isConnected = false
    /// The local port of the connection; 0 or less if unknown.
    var localPort: Int32 = 0
    /// Whether the connection that libcurl had chosen was stale: nothing was sent, and the exchange starts again.
    var isStale = false
    /// Whether the exchange needs a new connection, because a used one was stale.
    var needsNewConnection = false
    /// Whether the body ends with the connection, so that TLS must announce the end.
    var awaitsCloseNotify = false
    /// Whether TLS has announced the end.
    var hasCloseNotify = false
    /// Whether the last piece of a header line was not its end.
    var isWithinLine = false
    /// Whether the head of the final response has arrived.
    var hasHead = false
    /// Whether the metrics were stored when the head arrived.
    var hasMetrics = false
    /// Whether the exchange is flushed at the end of the round.
    var isToBeFlushed = false
    /// Whether libcurl is paused until the reader takes bytes.
    var waitsForReader = false
    /// Whether libcurl is paused until the request's body has more bytes.
    var waitsForUpload = false
    /// The number of pieces of the body that arrived in a round, and the start of this round.
    var pieces = 0
    var round: MonotonicInstant?
    /// The number of received bytes of the response to an upload.
    var received = 0
    /// Whether the response to an upload is complete by its length; stays `false` for other requests.
    var isAnswered = false
    /// Whether the exchange ends with its response although libcurl would continue the request.
    var isCut = false
    /// Whether libcurl has ended it with success, uncut and with a status below 300, so that its handle can be reused even after an upload.
    var endsWell = false
    /// The error of an exchange that is ended here, because libcurl's code would be less specific.
    var fault: (any Error)?
    /// The system's error when opening the socket; 0 for success, `nil` if libcurl hasn't asked for a socket.
    var socketError: Int32?
    /// The last time when bytes arrived, when bytes of the request's body were sent, or when a pause ended.
    var lastProgress: MonotonicInstant?
    /// The time when the loop received the exchange.
    var queued: MonotonicInstant?
    /// The time when libcurl received the exchange.
    var begun: MonotonicInstant?
    /// The version of TLS, once the connection is established.
    var tlsVersion: String?
    /// The number of bytes of the request's body that were reported as sent.
    var reported: Int64 = -1
}

/// The times of an exchange, in microseconds since libcurl received it, and its byte counts.
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
    /// The time between the transport's and libcurl's receipt of the request.
    private var waited = Duration.zero
    private var isComplete = false

    /// Creates empty metrics.
    init() {}

    /// Reads the metrics of a transfer.
    ///
    /// - Parameters:
    ///   - unixSocket: The path of the socket for all connections; `nil` if they go to hosts.
    ///   - isComplete: Whether the transfer has ended.
    init(_ easy: OpaquePointer, waited: Duration, tlsVersion: String?, unixSocket: String?, isComplete: Bool) {
        self.waited = waited
        self.unixSocket = unixSocket
        self.tlsVersion = tlsVersion
        self.isComplete = isComplete
        let isReused = csl_easy_get_long(easy, CSL_INFO_NEW_CONNECTIONS) == 0
        self.isReused = isReused
        // If a connection is reused, libcurl doesn't reset these times.
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

    /// The host and port; for a Unix-domain socket its whole path: libcurl reports only the beginning.
    private var address: String? {
        if host.isEmpty { return nil }
        return unixSocket ?? (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }

    /// The public form.
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
