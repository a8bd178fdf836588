import Foundation
import WebServiceClient

/// A transport that answers from the recordings of a ``Cassette``, or sends requests with another transport and records them.
///
/// The body of a request is read completely before it is sent, up to 64 MiB, because it is compared and may be readable only once. The body
/// of a response is recorded while the client reads it.
struct CassetteTransport: Transport {
    static let bodyLimit = 64 << 20

    let cassette: Cassette
    let inner: any Transport
    /// Whether some requests are sent.
    let sends: Bool

    /// The capabilities of the other transport except for WebSockets. All capabilities if nothing is sent, because those of the recorded
    /// transport aren't known.
    var capabilities: TransportCapabilities {
        (sends ? inner.capabilities : TransportCapabilities(rawValue: .max)).subtracting(.webSockets)
    }

    /// - Throws: ``TestingFailure`` if no recording fits, or if the file can't be written; the errors of the other transport, or recorded
    ///   errors.
    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        try cassette.check()
        guard request.webSocket == nil else { throw TransportError(.unsupported, "A cassette doesn't record WebSockets.") }
        var request = request
        var sent: Data?
        if let body = request.body {
            let bytes = try await body.collect(upTo: Self.bodyLimit)
            var copy = RequestBody(bytes, contentType: body.contentType)
            copy.contentTypeIsBinding = body.contentTypeIsBinding
            request.body = copy
            sent = bytes
        }
        let mask = RecordingMask(rules: cassette.headerRules, request: request)
        let recorded = mask.exchange(RecordedRequest(request, body: sent), startedAt: cassette.now())
        switch try cassette.answer(to: cassette.redacted(recorded)) {
        case .recording(let exchange): return try Self.response(exchange, to: request)
        case .network(let replaced):
            let recorder = ExchangeRecorder(cassette, mask, recorded, replacing: replaced)
            return try await recorder.record { [request] in try await inner.send(request) }
        }
    }

    // MARK: Replaying

    private static func response(_ exchange: RecordedExchange, to request: ServiceRequest) throws -> TransportResponse {
        if let failure = exchange.failure, exchange.status == 0 { throw failure.error }
        guard let body = exchange.responseBody else {
            throw TestingFailure(
                "The recording of \(exchange.summary) has no body: the program that made the file left it out. Record it again.")
        }
        let fields = exchange.responseFields.map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: $0.value) }
        return TransportResponse(
            status: exchange.status, headers: HTTPFields(fields), url: request.url, body: self.body(exchange, body),
            httpVersion: exchange.httpVersion)
    }

    private static func body(_ exchange: RecordedExchange, _ body: Data) -> ResponseBody {
        var end: (any Error)? = exchange.failure?.error
        if exchange.isCut {
            end = TestingFailure(
                "The recording of \(exchange.summary) ends here: its reader stopped after \(body.count) bytes. Record it again to read more."
            )
        }
        guard !exchange.pieces.isEmpty || end != nil else { return ResponseBody(body) }
        let lengths = exchange.pieces.isEmpty ? [body.count] : exchange.pieces
        let rest = Locked((body: body[...], lengths: lengths[...]))
        return ResponseBody(
            expectedLength: nil,
            next: { [end] in
                let piece: Data? = rest.withLock { rest in
                    while let length = rest.lengths.popFirst() {
                        let piece = rest.body.prefix(length)
                        rest.body = rest.body.dropFirst(length)
                        if !piece.isEmpty { return Data(piece) }
                    }
                    return nil
                }
                if piece == nil, let end { throw end }
                return piece
            },
            cancel: {})
    }
}

/// Records an exchange while it happens.
private final class ExchangeRecorder: Sendable {
    private struct State {
        var exchange: RecordedExchange
        var body = Data()
        var pieces: [Int] = []
        var isTooLarge = false
        var isFinished = false
    }

    private let cassette: Cassette
    private let mask: RecordingMask
    private let number: Int
    private let replaced: Set<Int>
    private let start = ContinuousClock.now
    private let state: Locked<State>

    init(_ cassette: Cassette, _ mask: RecordingMask, _ exchange: RecordedExchange, replacing replaced: Set<Int>) {
        self.cassette = cassette
        self.mask = mask
        self.replaced = replaced
        number = cassette.begin()
        state = Locked(State(exchange: exchange))
    }

    /// Sends a request and records its head, or the transport's error. The body is recorded when it has been read.
    func record(_ send: @Sendable () async throws -> TransportResponse) async throws -> TransportResponse {
        let response: TransportResponse
        do {
            response = try await send()
        } catch let error as TransportError {
            state.withLock { $0.exchange.failure = mask.failure(error) }
            try finish()
            throw error
        }
        let headTime = ContinuousClock.now - start
        state.withLock { state in
            state.exchange.status = response.status
            state.exchange.responseFields = mask.masked(response.headers)
            state.exchange.httpVersion = response.httpVersion
            state.exchange.timeToHead = headTime
        }
        if let data = response.body.data {
            add(data)
            try finish()
            return response
        }
        return observed(response)
    }

    private func observed(_ response: TransportResponse) -> TransportResponse {
        let body = response.body
        let reader = PieceReader(body)
        var response = response
        response.body = ResponseBody(
            expectedLength: body.expectedLength,
            next: {
                do {
                    let piece = try await reader.next()
                    if let piece { self.add(piece) } else { self.end() }
                    return piece
                } catch let error as TransportError {
                    self.state.withLock { $0.exchange.failure = self.mask.failure(error) }
                    self.end()
                    throw error
                } catch {
                    self.stop()
                    throw error
                }
            },
            cancel: {
                body.cancel()
                self.stop()
            })
        return response
    }

    private func add(_ piece: Data) {
        state.withLock { state in
            guard !state.isFinished, !state.isTooLarge, !piece.isEmpty else { return }
            guard piece.count <= CassetteTransport.bodyLimit - state.body.count else {
                (state.isTooLarge, state.body) = (true, Data())
                return
            }
            state.body.append(piece)
            state.pieces.append(piece.count)
        }
    }

    /// Ends the recording. No call waits for it, so the next call throws the error.
    private func end() {
        do { try finish() } catch { cassette.fail(error) }
    }

    /// Ends the recording of a body that wasn't read to its end.
    private func stop() {
        state.withLock { if !$0.isFinished { $0.exchange.isCut = true } }
        end()
    }

    private func finish() throws(TestingFailure) {
        let time = ContinuousClock.now - start
        let finished: State? = state.withLock { state in
            guard !state.isFinished else { return nil }
            let copy = state
            (state.isFinished, state.body) = (true, Data())
            return copy
        }
        guard var exchange = finished?.exchange, let finished else { return }
        guard !finished.isTooLarge else {
            throw TestingFailure(
                "\(exchange.summary) isn't recorded: its response has more than \(CassetteTransport.bodyLimit) bytes. Stub it instead.")
        }
        exchange.timeToEnd = time
        mask.add(finished.body, pieces: finished.pieces, to: &exchange)
        try cassette.add(exchange, number: number, replacing: replaced)
    }
}
