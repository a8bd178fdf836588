import CSystemLibraries
import Foundation

/// One request on its way through libcurl, and its response: what the loop brings goes in, what the caller awaits comes out.
///
/// The head is delivered once; after it the body's bytes wait in a bounded buffer for their reader, and while it is full the loop takes no
/// more. The exchange ends exactly once: all received, failed, or abandoned.
///
/// `@unchecked Sendable`: `transfer` is touched by who has the loop's turn only; all else is constant or behind the lock.
final class CurlExchange: @unchecked Sendable {
    /// From so many waiting bytes on the loop takes no more of the body, and from so few on it does again.
    static let fullAt = 256 * 1024
    static let roomAt = 96 * 1024
    /// A reader that wants all of a body whose rest is too long, or of unknown length, is told from so many waiting bytes on: less than what
    /// makes the loop stop.
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

    /// The loop's part. Unchecked: who has the turn is alone and has no overlapping accesses to fear, and each check costs more than the
    /// access.
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

    /// Whether its reader collects the body.
    var isCollected: Bool { state.withLock { $0.isCollected } }

    /// Whether anybody still waits for it.
    var isWanted: Bool { state.withLock { $0.end == nil } }
}

// What the caller does.
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

    /// The next piece of the body, `nil` at the end, as far as it needn't be waited for.
    ///
    /// - Parameter wanted: how many bytes the reader would rather wait for than be woken for fewer, as far as they come.
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

    /// The next piece of the body, `nil` at the end.
    ///
    /// - Parameter wanted: how many bytes the reader would rather wait for than be woken for fewer, as far as they come.
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

    /// Throws when the body isn't wanted any more: what a reader with bytes of its own asks before it goes on with them.
    func checkWanted() throws {
        if let error = state.withLock({ $0.abandonment }) { throw error }
        guard Task.isCancelled else { return }
        abandon(CancellationError())
        throw CancellationError()
    }

    /// The body was dropped or cancelled by its reader: nothing to do for one that was read to its end, as most are.
    ///
    /// - Parameter isDecoded: whether bytes that have been read from here may still last for more of the body.
    func drop(isDecoded: Bool) {
        guard isDecoded || !state.withLock({ $0.isConsumed }) else { return }
        abandon(TransportError(.other, "The body of the response from \(request.host) was cancelled by its reader."))
    }

    /// Ends the exchange at once with that error; the caller is told before the loop is.
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
                // The exchange has ended without wanting the rest of the body.
            } catch {
                // The body's own error; once the exchange has ended, nobody wants the body, and it may say so by any error.
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
    /// The response that a head begins.
    ///
    /// - Throws: ``TransportError`` with `unreadableResponse` when the head contradicts itself.
    func response(to request: ServiceRequest, _ head: CurlHead) throws -> TransportResponse {
        let (status, version, headers) = head.parsed()
        guard status >= 100 else {
            let fault = TransportError(
                .unreadableResponse, "What \(self.request.host) answered is no HTTP that can be read: its status line is none.")
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
                // Who watches the progress wants to see some.
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
            cancel: { self.drop(isDecoded: decoded != nil) })
        let report = ExchangeReport(
            informational: head.parsedInformational(), metrics: { self.state.withLock { $0.metrics }.value },
            trailers: {
                HTTPFields(HTTPFields.Lines(self.state.withLock { $0.trailers }))
            })
        return TransportResponse(
            status: status, headers: headers, url: request.url, body: body, httpVersion: version.map(Self.name), report: report,
            isTunnelRefusal: head.isOfTunnel)
    }

    /// The codings that are undone; none where the request wants the body as it comes.
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

    /// The number of bytes that the reader will see, where the head tells (RFC 9112 §6.3).
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

// What the loop brings, by who has its turn.
extension CurlExchange {
    /// A header line, or a piece of one, before libcurl keeps it.
    ///
    /// - Returns: whether libcurl is to go on.
    func accepts(line: UnsafeRawBufferPointer) -> Bool {
        // What is longer than 16 kB comes in pieces.
        defer { transfer.isWithinLine = line.last != UInt8(ascii: "\n") }
        guard !transfer.isWithinLine, !transfer.heads.accepts(line) else { return true }
        refuseFirstLine()
        return false
    }

    private func refuseFirstLine() {
        let isServer = transfer.isConnected || transfer.loop?.reportsConnections == false
        transfer.fault = CurlFault.badFirstLine(from: isServer ? request.host : "the proxy on the way to \(request.host)")
    }

    /// A header line.
    ///
    /// - Returns: whether libcurl is to go on.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        // Older libraries don't tell that the connection stands.
        let isConnected = transfer.isConnected || transfer.loop?.reportsConnections == false
        switch transfer.heads.receive(line, isConnected: isConnected) {
        case .none:
            return true
        case .tooLarge:
            transfer.fault = TransportError(
                .unreadableResponse,
                "The head of the response from \(request.host) is larger than \(CurlHeadReader.limit) bytes, or comes behind more than "
                    + "\(CurlHeadReader.mostInformational) informational responses.")
            return false
        case .badFirstLine:
            refuseFirstLine()
            return false
        case .badLength(let length):
            transfer.fault = TransportError(
                .unreadableResponse, "The response from \(request.host) declares a length that is none, or two that differ: \(length).")
            return false
        case .contradiction(let what):
            transfer.fault = TransportError(
                .unreadableResponse,
                "The response from \(request.host) has \(what): where its body ends can't be known for sure (RFC 9112 §6.3). It must be mended "
                    + "there.")
            return false
        case .head(let head):
            // It has no body, and what its server sends as one is nobody's answer.
            if head.status == 204, head.framing.isTransferCoded { transfer.handle?.forbidReuse() }
            deliver(head)
            return true
        }
    }

    /// Bytes of the body.
    ///
    /// - Returns: whether they were taken; else libcurl is to wait with them.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isTaken = state.withLock { state in
            // Nobody wants more: the loop will be told to drop it, and more reading would only make that late.
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

    /// A socket for a connection that is about to be made.
    ///
    /// - Returns: -1 where the system gives none, or the request isn't to go out once more.
    func openSocket(to address: OpaquePointer?, owner: UnsafeMutableRawPointer?) -> Int32 {
        guard let loop = transfer.loop, loop.mayConnect(self) else { return -1 }
        let socket = csl_socket_open(address, loop.driver, owner)
        transfer.socketError = socket < 0 ? -socket : 0
        return max(socket, -1)
    }

    /// How long an exchange over HTTP/2 goes on behind a complete answer, for a body of which the server takes nothing, and for trailers.
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

    /// What passes next; `nil` when nothing is watched.
    func due(now: MonotonicInstant) -> ExchangeDeadlines.Due? {
        guard isWanted else { return nil }
        if transfer.hasHead {
            // While the reader is slow, silence is its own.
            let last = transfer.waitsForReader ? now : transfer.lastProgress ?? now
            let due = deadlines.dueWhileReceiving(lastArrival: last)
            guard transfer.isAnswered, transfer.heads.isHTTP2, !transfer.waitsForUpload else { return due }
            // The answer doesn't depend on what hasn't been sent (RFC 9113 §8.1). The server may take no more of it, and libcurl doesn't tell.
            let end = last.advanced(by: Self.patience)
            return due.map { $0.instant < end } == true ? due : ExchangeDeadlines.Due(instant: end, code: .timedOutIdle)
        }
        // Older libraries don't tell that the connection stands, but none sends anything before.
        guard transfer.isConnected || transfer.lastProgress != nil else { return deadlines.dueWhileConnecting }
        return deadlines.dueWhileWaiting(lastSent: transfer.lastProgress)
    }

    /// The head of the response is there; where a proxy has answered instead of opening a tunnel, that answer's, which has no body.
    func deliver(_ head: CurlHead) {
        state.withLock { $0.deliver(head, length: transfer.heads.bodyLength) }
        transfer.loop?.headArrived(self)
        if request.hasBody { countReceived(0) }
        // libcurl sends no more of the body to a server that refuses it, but goes on to wait for the next piece where it was told to.
        if transfer.waitsForUpload, head.status >= 300, let handle = transfer.handle {
            transfer.waitsForUpload = false
            csl_easy_pause(handle.easy, Int32(CSL_PAUSE_NONE))
        }
    }

    /// So many bytes of the answer to an upload have come: the rest of it, where its length was told.
    private func countReceived(_ count: Int) {
        transfer.received += count
        transfer.isAnswered = transfer.hasHead && transfer.heads.isComplete(after: transfer.received)
        guard transfer.isAnswered, let loop = transfer.loop else { return }
        if transfer.heads.isHTTP2 { loop.watch(due(now: loop.now)) }
        endIfAnswered()
    }

    /// Ends an upload that waits for more of its own body, when the answer is complete and the server doesn't want more: it closes the
    /// connection (RFC 9112 §9.3). While that stays open, the body is sent to its end, for as long as it isn't silent for the idle time; see
    /// ``due(now:)`` for HTTP/2.
    private func endIfAnswered() {
        guard transfer.isAnswered, transfer.waitsForUpload, transfer.heads.isClosing else { return }
        transfer.loop?.answered.append(self)
    }

    /// The engine is done with it.
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

    /// Tells the readers what there is: at the end of a round, when it may be the whole response.
    func flush() {
        state.withLock { $0.flush(blocks) }.perform(blocks)
    }

    /// Tells of the whole of a body, where it has not been told of while it was sent.
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
