import CSystemLibraries
import Foundation

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
        let isServer = transfer.isConnected || transfer.loop?.tellsBeforeSending == false
        transfer.fault = CurlFault.badFirstLine(from: isServer ? request.host : "the proxy on the way to \(request.host)")
    }

    /// A header line.
    ///
    /// - Returns: whether libcurl is to go on.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        // Older libraries don't tell that the connection stands.
        let isConnected = transfer.isConnected || transfer.loop?.tellsBeforeSending == false
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
        if isTaken, request.hasBody { cameIn(bytes.count) }
        transfer.loop?.touch(self)
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

    /// Whether nothing but the answer is awaited, and nobody has stayed awake for it.
    var isAnswerNext: Bool { transfer.isConnected && !transfer.hasHead && !transfer.hasLingered && upload == nil }

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
        if request.hasBody { cameIn(0) }
        // libcurl sends no more of the body to a server that refuses it, but goes on to wait for the next piece where it was told to.
        if transfer.waitsForUpload, head.status >= 300, let handle = transfer.handle {
            transfer.waitsForUpload = false
            csl_easy_pause(handle.easy, Int32(CSL_PAUSE_NONE))
        }
    }

    /// So many bytes of the answer to an upload have come: the rest of it, where its length was told.
    private func cameIn(_ count: Int) {
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
        transfer.loop?.touch(self)
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
