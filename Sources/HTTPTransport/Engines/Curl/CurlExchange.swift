import CSystemLibraries
import Foundation

/// A request on its way through libcurl, and its response. The loop delivers, the caller awaits.
///
/// The head is delivered once. The bytes of the body then wait for their reader in a bounded buffer; while it is full, the loop pauses the
/// transfer. The exchange ends exactly once: complete, failed, or abandoned.
///
/// `@unchecked Sendable`: only the loop's owner accesses `transfer`; everything else is constant or protected by the lock.
final class CurlExchange: @unchecked Sendable {
    /// High and low watermarks of the waiting bytes: receiving pauses above one and resumes below the other.
    static let fullAt = 256 * 1024
    static let roomAt = 96 * 1024
    /// The number of waiting bytes at which a reader that collects the body is woken, if the rest is too long or of unknown length: less
    /// than the high watermark.
    static let piece = 128 * 1024

    let request: CurlRequest
    let trust: CurlTrust
    let probe: TrustProbe?
    let deadlines: ExchangeDeadlines
    let started: MonotonicInstant
    let upload: CurlUpload?
    let uploadProgress: (@Sendable (TransferProgress) -> Void)?
    let blocks: BodyBlocks
    let state = Locked(CurlExchangeState())
    private let engine: CurlEngine

    /// The loop's part. Unchecked: only the loop's owner accesses it, without overlaps, and each check costs more than the access.
    @exclusivity(unchecked) var transfer = CurlTransfer()

    init(_ request: CurlRequest, from source: borrowing ServiceRequest, trust: CurlTrust, probe: TrustProbe?, engine: CurlEngine) {
        if case .stream(let body) = request.upload { upload = CurlUpload(body) } else { upload = nil }
        self.request = request
        self.trust = trust
        self.probe = probe
        started = .now
        self.engine = engine
        blocks = engine.blocks
        deadlines = ExchangeDeadlines(source, start: started)
        uploadProgress = source.uploadProgress
    }

    deinit {
        blocks.give(state.withLock { $0.takeRest() })
    }

    /// Whether the reader collects the body.
    var isCollected: Bool { state.withLock { $0.isCollected } }

    /// Whether a caller still waits for the exchange.
    var isWanted: Bool { state.withLock { $0.end == nil } }
}

// The caller's side.
extension CurlExchange {
    /// Sends the request and awaits the head of the response.
    func head() async throws -> CurlHead {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let ended: (any Error)? = state.withLock { state in
                    if case .failed(let error) = state.end { return error }
                    state.headReader = continuation
                    return nil
                }
                if let ended { return continuation.resume(throwing: ended) }
                guard engine.post(.start(self)) else {
                    return abandon(
                        TransportError(.other, "The transport was invalidated: make a new one, or keep this one for longer."))
                }
                feed()
            }
        } onCancel: {
            abandon(CancellationError())
        }
    }

    /// Returns the next piece of the body without waiting, `nil` at the end.
    ///
    /// - Parameter wanted: The number of bytes for which the reader prefers to wait rather than being woken for fewer.
    func arrived(_ wanted: Int) throws -> ResponseBody.Arrival {
        if Task.isCancelled { abandon(CancellationError()) }
        let (reading, hasRoom) = state.withLock { ($0.readAtOnce(wanted), $0.resumes(below: Self.roomAt)) }
        if hasRoom { engine.post(.resume(self)) }
        switch reading {
        case .block(let block): return .piece(blocks.data(of: block))
        case .end(let result): return .piece(try result.get())
        case .waits: return .nothing
        }
    }

    /// Returns the next piece of the body, `nil` at the end.
    ///
    /// - Parameter wanted: The number of bytes for which the reader prefers to wait rather than being woken for fewer.
    func next(_ wanted: Int = 1) async throws -> Data? {
        if case .piece(let piece) = try arrived(wanted) { return piece }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let (reading, hasRoom) = state.withLock { ($0.read(continuation, wanted), $0.resumes(below: Self.roomAt)) }
                if hasRoom { engine.post(.resume(self)) }
                switch reading {
                case .block(let block): continuation.resume(returning: blocks.data(of: block))
                case .end(let result): continuation.resume(with: result)
                case .waits: break
                }
            }
        } onCancel: {
            abandon(CancellationError())
        }
    }

    /// Throws if the body isn't needed any more. Readers with buffered bytes call this before they continue with them.
    func checkWanted() throws {
        if let error = state.withLock({ $0.abandonment }) { throw error }
        guard Task.isCancelled else { return }
        abandon(CancellationError())
        throw CancellationError()
    }

    /// Called when the reader drops or cancels the body. Does nothing if the body was read to its end, which is usual.
    ///
    /// - Parameter isDecoded: Whether the decoder may still hold bytes of the body.
    func drop(isDecoded: Bool) {
        guard isDecoded || !state.withLock({ $0.isConsumed }) else { return }
        abandon(TransportError(.other, "The body of the response from \(request.host) was cancelled by its reader."))
    }

    /// Ends the exchange at once with an error. The caller is notified before the loop.
    func abandon(_ error: any Error, keepingBytes: Bool = false) {
        let (effects, isRunning) = state.withLock { $0.abandon(error, keepingBytes: keepingBytes, blocks) }
        if isRunning { engine.post(.drop(self)) }
        effects.perform(blocks)
    }

    private func feed() {
        guard let upload else { return }
        let feeder = Task {
            do {
                try await upload.feed { self.engine.post(.resume(self)) }
            } catch is CancellationError where Task.isCancelled {
                // The exchange has ended without needing the rest of the body.
            } catch {
                // An error of the body itself. After the end of the exchange, the body may fail with any error, which is ignored.
                if isWanted { abandon(error, keepingBytes: isCollected) }
            }
        }
        let isLate = state.withLock { state in
            guard state.end == nil else { return true }
            state.feeder = feeder
            return false
        }
        if isLate { feeder.cancel() }
    }
}

extension CurlExchange {
    /// Returns the response that begins with a head.
    ///
    /// - Parameter released: Called when the body has been released or cancelled.
    /// - Throws: ``TransportError`` with `unreadableResponse` if the head contradicts itself.
    func response(
        to request: ServiceRequest, _ head: CurlHead, released: (@Sendable () -> Void)? = nil
    ) throws -> TransportResponse {
        let (status, version, headers) = head.parsed()
        guard status >= 100 else {
            let fault = TransportError(
                .unreadableResponse, "The response from \(self.request.host) isn't valid HTTP: its status line is invalid.")
            abandon(fault)
            throw fault
        }
        let codings = head.framing.isContentCoded ? try codings(of: headers) : []
        let length = head.isOfTunnel ? 0 : Self.bodyLength(status, head.framing, method: request.method, isDecoded: !codings.isEmpty)
        let meter = request.downloadProgress.map { DownloadMeter(total: length, report: $0) }
        let decoded = codings.isEmpty ? nil : decodedBody(codings)
        let body = ResponseBody(
            expectedLength: length,
            next: { wanted in
                // A progress closure should be called often.
                let piece = if let decoded { try await decoded.next() } else { try await self.next(meter == nil ? wanted : 1) }
                meter?.passed(piece)
                return piece
            },
            arrived: { wanted in
                guard decoded == nil else { return .nothing }
                let arrival = try self.arrived(meter == nil ? wanted : 1)
                if case .piece(let piece) = arrival { meter?.passed(piece) }
                return arrival
            },
            cancel: {
                released?()
                self.drop(isDecoded: decoded != nil)
            })
        let report = ExchangeReport(
            informational: head.parsedInformational(), metrics: { self.state.withLock { $0.metrics }.value },
            trailers: {
                HTTPFields(HTTPFields.Lines(self.state.withLock { $0.trailers }))
            })
        return TransportResponse(
            status: status, headers: headers, url: request.url, body: body, httpVersion: version.map(Self.name), report: report,
            isTunnelRefusal: head.isOfTunnel)
    }

    /// Returns the codings to decode; none if the request wants the body unchanged.
    private func codings(of headers: HTTPFields) throws(TransportError) -> [ContentCoding] {
        guard request.fields.isDecoded else { return [] }
        do {
            return try ContentCoding.ofBody(headers, host: request.host)
        } catch {
            abandon(error)
            throw error
        }
    }

    private func decodedBody(_ codings: [ContentCoding]) -> DecodedBody {
        DecodedBody(
            codings, host: request.host, source: { try await self.next() }, check: { try self.checkWanted() },
            abandon: { self.abandon($0) })
    }

    /// Returns the number of bytes that the reader will receive; `nil` if the head doesn't determine it (RFC 9112 §6.3).
    private static func bodyLength(
        _ status: Int, _ framing: CurlHead.Framing, method: ServiceRequest.Method, isDecoded: Bool
    ) -> Int64? {
        guard method != .head, status != 204, status != 304 else { return 0 }
        guard !framing.isTransferCoded else { return nil }
        return isDecoded && framing.length != 0 ? nil : framing.length
    }

    private static func name(_ version: String) -> String {
        version == "HTTP/2.0" ? "HTTP/2" : version
    }
}

// The loop's side, called by its owner.
extension CurlExchange {
    /// Checks a header line, or a piece of one, before libcurl stores it.
    ///
    /// - Returns: Whether libcurl may continue.
    func accepts(line: UnsafeRawBufferPointer) -> Bool {
        // Lines longer than 16 kB arrive in pieces.
        defer { transfer.isWithinLine = line.last != UInt8(ascii: "\n") }
        guard !transfer.isWithinLine, !transfer.heads.accepts(line) else { return true }
        refuseFirstLine()
        return false
    }

    private func refuseFirstLine() {
        guard !transfer.hasHead else {
            transfer.fault = CurlFault.badTrailer(from: request.host)
            return
        }
        let isServer = transfer.isConnected || transfer.loop?.reportsConnections == false
        transfer.fault = CurlFault.badFirstLine(from: isServer ? request.host : "the proxy for \(request.host)")
    }

    /// Receives a header line.
    ///
    /// - Returns: Whether libcurl may continue.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        // Older libraries don't report that the connection is established.
        let isConnected = transfer.isConnected || transfer.loop?.reportsConnections == false
        switch transfer.heads.receive(line, isConnected: isConnected) {
        case .none:
            return true
        case .tooLarge:
            transfer.fault = TransportError(
                .unreadableResponse,
                "The head of the response from \(request.host) is larger than \(CurlHeadReader.limit) bytes, or follows more than "
                    + "\(CurlHeadReader.informationalLimit) informational responses: the server must send fewer or shorter fields.")
            return false
        case .badFirstLine:
            refuseFirstLine()
            return false
        case .badLength(let length):
            transfer.fault = TransportError(
                .unreadableResponse, "The response from \(request.host) has an invalid Content-Length, or several that differ: \(length).")
            return false
        case .contradiction(let what):
            transfer.fault = TransportError(
                .unreadableResponse,
                "The response from \(request.host) has \(what): the end of its body is ambiguous (RFC 9112 §6.3). The service must be "
                    + "corrected.")
            return false
        case .head(let head):
            // The response has no body; anything that the server sends as one must not reach another exchange.
            if head.status == 204, head.framing.isTransferCoded { transfer.handle?.forbidReuse() }
            deliver(head)
            return true
        }
    }

    /// The maximum number of pieces of a body in a round. libcurl passes each chunk and each frame separately and reads up to 6 MB at a
    /// time: a server that sends single bytes would make all other exchanges wait.
    private static let mostPieces = 1_000

    /// Counts a piece of the body. Returns `false` if there were too many in this round, so that libcurl must pause until its end.
    @inline(__always)
    private func mayContinue() -> Bool {
        guard let loop = transfer.loop else { return true }
        if transfer.round != loop.now { (transfer.round, transfer.pieces) = (loop.now, 0) }
        transfer.pieces += 1
        if transfer.pieces <= Self.mostPieces { return true }
        if transfer.pieces == Self.mostPieces + 1 { loop.yielding.append(self) }
        return false
    }

    /// Receives bytes of the body.
    ///
    /// - Returns: Whether they were taken; otherwise libcurl must pause.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard mayContinue() else { return false }
        let isTaken = state.withLock { state in
            // The body isn't needed any more, and the loop will receive a command to drop the exchange; further reading would only delay
            // it.
            guard state.end == nil else { return false }
            guard state.waiting == 0 || state.waiting + bytes.count <= Self.fullAt else {
                state.isPaused = true
                return false
            }
            state.receive(bytes, blocks)
            return true
        }
        transfer.waitsForReader = !isTaken
        if isTaken, request.hasBody { countReceived(bytes.count) }
        transfer.loop?.flushLater(self)
        return isTaken
    }

    /// Opens a socket for a new connection.
    ///
    /// - Returns: -1 if the system provides none, or if the request would be sent again.
    func openSocket(to address: OpaquePointer?, owner: UnsafeMutableRawPointer?) -> Int32 {
        guard let loop = transfer.loop, loop.mayConnect(self) else { return -1 }
        let socket = csl_socket_open(address, loop.driver, owner)
        transfer.socketError = socket < 0 ? -socket : 0
        return max(socket, -1)
    }

    /// The time limit for the rest of an HTTP/2 exchange after a complete response: for trailers, and for a server that doesn't read the
    /// request's body.
    private static let patience = Duration.seconds(3)

    /// Fills libcurl's buffer with the request's body.
    func send(into buffer: UnsafeMutableRawBufferPointer) -> CurlUpload.Reading {
        guard let upload else { return .end }
        let reading = upload.read(into: buffer)
        switch reading {
        case .bytes: transfer.lastProgress = transfer.loop?.now
        case .wait:
            transfer.waitsForUpload = true
            endIfAnswered()
        case .end: break
        }
        reportUpload(upload.taken, of: upload.length)
        return reading
    }

    /// The next deadline; `nil` if there is none.
    func due(now: MonotonicInstant) -> ExchangeDeadlines.Due? {
        guard isWanted else { return nil }
        if transfer.hasHead {
            // While the reader is slow, the silence isn't the server's.
            let last = transfer.waitsForReader ? now : transfer.lastProgress ?? now
            let due = deadlines.dueWhileReceiving(lastArrival: last)
            guard transfer.isAnswered, transfer.heads.isHTTP2, !transfer.waitsForUpload else { return due }
            // The response doesn't depend on the unsent part (RFC 9113 §8.1). The server may stop reading it, which libcurl doesn't report.
            let end = last.advanced(by: Self.patience)
            return due.map { $0.instant < end } == true ? due : ExchangeDeadlines.Due(instant: end, code: .timedOutIdle)
        }
        // Older libraries don't report that the connection is established, but no bytes are sent before.
        guard transfer.isConnected || transfer.lastProgress != nil else { return deadlines.dueWhileConnecting }
        return deadlines.dueWhileWaiting(lastSent: transfer.lastProgress)
    }

    /// Delivers the head of the response; if a proxy refused a tunnel, the head of the proxy's response, without its body.
    func deliver(_ head: CurlHead) {
        state.withLock { $0.deliver(head, length: transfer.heads.bodyLength) }
        transfer.loop?.headArrived(self)
        if request.hasBody { countReceived(0) }
        // libcurl sends nothing more of the body to a server that refuses it, but if paused it would still wait for the next piece.
        if transfer.waitsForUpload, head.status >= 300, let handle = transfer.handle {
            transfer.waitsForUpload = false
            csl_easy_pause(handle.easy, Int32(CSL_PAUSE_NONE))
        }
    }

    /// Counts received bytes of the response to an upload, to find out whether it is complete by its length.
    private func countReceived(_ count: Int) {
        transfer.received += count
        transfer.isAnswered = transfer.hasHead && transfer.heads.isComplete(after: transfer.received)
        guard transfer.isAnswered, let loop = transfer.loop else { return }
        if transfer.heads.isHTTP2 { loop.watch(due(now: loop.now)) }
        endIfAnswered()
    }

    /// Ends an upload whose body has no bytes yet, if the response is complete and the server closes the connection (RFC 9112 §9.3).
    /// If the connection stays open, the body is sent to its end unless it is silent for the idle time; see ``due(now:)`` for HTTP/2.
    private func endIfAnswered() {
        guard transfer.isAnswered, transfer.waitsForUpload, transfer.heads.isClosing else { return }
        transfer.loop?.answered.append(self)
    }

    /// Called by the engine at the end.
    func finish(_ error: (any Error)?, metrics: CurlMetrics) {
        if error == nil, request.hasBody, !transfer.isCut { reportUpload(to: request.upload) }
        let trailers = transfer.heads.trailers
        let error = error ?? (transfer.hasHead ? nil : CurlFault.noHead(of: request.host))
        state.withLock { state in
            state.metrics = metrics
            state.trailers = trailers
            state.finish(error)
        }
        transfer.loop?.flushLater(self)
    }

    /// Delivers to the readers at the end of a round, when the response may be complete.
    func flush() {
        state.withLock { $0.flush(blocks) }.perform(blocks)
    }

    /// Reports the end of a body's upload if that wasn't reported during the upload.
    private func reportUpload(to end: CurlRequest.Upload) {
        switch end {
        case .bytes(let data): reportUpload(Int64(data.count), of: Int64(data.count))
        case .stream: if let upload { reportUpload(upload.taken, of: upload.length) }
        case .none: break
        }
    }

    private func reportUpload(_ sent: Int64, of length: Int64?) {
        guard let uploadProgress, sent > transfer.reported else { return }
        transfer.reported = sent
        uploadProgress(TransferProgress(completed: sent, total: length))
    }
}
