import CSystemLibraries

/// The loop's part of an exchange, for who has its turn only.
struct CurlTransfer {
    /// The loop that has it. Unsafe, since counting costs more than the access: it is read on the loop's turn only, and nobody has that after
    /// the loop's end.
    unowned(unsafe) var loop: CurlLoop?
    /// Those that go the same way.
    var lane: CurlLanes<CurlExchange>.Lane?
    /// libcurl's handle while the exchange is with libcurl.
    var handle: CurlHandle?
    /// The loop's pool whose connections it uses; `nil` for those of all.
    var pool: Int?
    /// Where the exchange stands in the loop's list.
    var index = 0
    /// The lines that have come.
    var heads = CurlHeadReader()
    /// Whether the connection stands.
    var isConnected = false
    /// The local port of the connection; 0 or less where it isn't known.
    var localPort: Int32 = 0
    /// Whether the connection that libcurl had chosen was stale: nothing has gone out, and the exchange begins again.
    var isStale = false
    /// Whether the exchange needs a new connection, since a used one was stale.
    var needsNewConnection = false
    /// Whether the body ends where the connection does, which TLS must then announce, and whether it has.
    var awaitsCloseNotify = false
    var hasCloseNotify = false
    /// Whether the last piece of a header line was not its end.
    var isWithinLine = false
    /// Whether the head of the final response has come.
    var hasHead = false
    /// Whether the metrics were asked for when the head had come.
    var hasMetrics = false
    /// Whether the exchange waits for the end of the round, when its readers are told.
    var isToBeFlushed = false
    /// Whether libcurl was told to wait: for the reader, for the request's body.
    var waitsForReader = false
    var waitsForUpload = false
    /// The bytes of the answer to an upload that have come.
    var received = 0
    /// Whether the answer is complete, by its length.
    var isAnswered = false
    /// Whether the exchange ends with its answer, though libcurl would go on with the request.
    var isCut = false
    /// Whether libcurl has ended it with a success, after all of the request.
    var endsWell = false
    /// Why the exchange is being ended from here, where libcurl's own code would say less.
    var fault: (any Error)?
    /// Why the system gave no socket; 0 where it did, `nil` where none was asked for.
    var socketError: Int32?
    /// When something last arrived, or went out of the request's body.
    var lastProgress: MonotonicInstant?
    /// When the loop got it.
    var queued: MonotonicInstant?
    /// When libcurl got it.
    var begun: MonotonicInstant?
    /// The version of TLS, once the connection stands.
    var tlsVersion: String?
    /// The bytes of the request's body that were reported as sent.
    var reported: Int64 = -1
}

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
