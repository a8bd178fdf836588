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
    var isTouched = false
    /// Whether the loop has stayed awake for its answer.
    var hasLingered = false
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
