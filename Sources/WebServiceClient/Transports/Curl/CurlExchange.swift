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
