import Foundation

/// One upload of a file: creates a session or continues one, and sends pieces until the server has the whole file.
///
/// After each interruption it asks the server for the position, because a lost response leaves it unknown.
struct ResumableUpload: Sendable {
    /// The response to the last piece, with its body.
    struct End: Sendable {
        let answer: CapturedCall.Answer
        let body: Data
    }

    private let client: WebServiceClient
    private let creation: CapturedCall
    private let source: UploadSource
    private let rules: UploadProtocol
    private let dialect: any UploadDialect
    private let options: UploadOptions
    private let progress: CallProgress
    /// Makes random numbers between 0 and 1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The maximum number of sessions of one upload.
    private static let sessionLimit = 4
    /// The maximum number of bytes of the response that creates a session.
    private static let answerLimit = 64 << 10

    /// Thrown if the session has ended and the upload needs another one.
    private struct SessionGone: Error {}

    init(
        _ client: WebServiceClient, _ creation: CapturedCall, of file: URL, by rules: UploadProtocol, _ options: UploadOptions,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) throws {
        try options.check()
        source = try UploadSource(file)
        try rules.check(source)
        self.client = client
        self.creation = creation
        self.rules = rules
        dialect = rules.dialect
        self.options = options
        let handle = creation.progress
        self.progress = CallProgress { direction, state in
            handle?.note(state, of: direction)
            progress?(state)
        }
    }

    /// Uploads the file.
    func run() async throws -> End {
        var session = try known()
        for number in 1...Self.sessionLimit {
            do {
                let end: End
                if let session {
                    end = try await send(to: session, from: nil, nil)
                } else {
                    let (made, state, answer) = try await create()
                    session = made
                    end = try await send(to: made, from: state, answer)
                }
                try forget()
                return end
            } catch is SessionGone {
                try forget()
                session = nil
                report(.notice, "the upload's session \(number) has ended: the upload begins again")
            }
        }
        throw TransferError(
            .invalidAnswer,
            "\(Self.sessionLimit) upload sessions ended before \(source.file.lastPathComponent) was complete: check the server.")
    }

    // MARK: Sessions

    /// The session to continue; `nil` if the upload needs a new one.
    private func known() throws -> UploadSession? {
        guard let session = options.session ?? options.sessionFile.flatMap(UploadSession.stored) else { return nil }
        guard session.isUsable(by: rules) else {
            report(.notice, "the kept session isn't one of \(rules) and isn't continued")
            return nil
        }
        guard session.fits(source) else {
            guard options.changedFile == .startOver else {
                throw TransferError(
                    .sourceChanged,
                    "\(source.file.lastPathComponent) has changed since its upload began: set UploadOptions.changedFile to .startOver to "
                        + "upload it from the beginning.")
            }
            report(.notice, "the file has changed since its upload began: the upload begins again")
            return nil
        }
        return session
    }

    private func keep(_ session: UploadSession) throws {
        if let file = options.sessionFile { try session.store(in: file) }
        options.sessionChanged?(session)
    }

    private func forget() throws {
        if let file = options.sessionFile { try? PrivateFile(file).remove() }
        options.sessionChanged?(nil)
    }

    private func create() async throws -> (UploadSession, UploadState, End) {
        var fault: (any Error)?
        let answer = try await creation.send(judging: dialect.statuses.contains(412) ? [412] : []) { request in
            do { try dialect.create(&request, source) } catch { fault = error }
        }
        if let fault {
            answer.body.cancel()
            throw fault
        }
        let body = try await body(of: answer, upTo: Self.answerLimit)
        let text = try dialect.location(answer.response, body)
        let url = try resolve(text, against: answer.response.url)
        let session = UploadSession(url: url, source: source, kind: rules.kind, expires: dialect.expiry(answer.response, body))
        let state = try dialect.created(answer.response, source)
        try keep(session)
        return (session, state, End(answer: answer, body: body))
    }

    private func resolve(_ location: String, against base: URL) throws -> URL {
        var text = URLText.resolve(URLText.repaired(location), against: base.absoluteString)
        if let hash = text.firstIndex(of: "#") { text.removeSubrange(hash...) }
        guard let url = URL(string: text), let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https" else {
            throw TransferError(.invalidAnswer, "The URL of the upload session isn't an http or https URL: the service must give one.")
        }
        guard origin.scheme == "https" || base.scheme?.lowercased() != "https" else {
            throw TransferError(
                .invalidAnswer,
                "The URL of the upload session leaves https for http, where the file won't be sent: the service must give an https one.")
        }
        return url
    }

    /// A call to a session, with the client's credentials if the session is on the service's origin or an allowed one.
    private func call(to session: UploadSession) throws -> CapturedCall {
        let state = creation.dispatcher.state
        let origin = Origin(session.url)
        let isOwn = origin != nil && (origin == creation.bound.origin || origin.map(state.allowedOrigins.contains) == true)
        let isForeign = dialect.isForeign || creation.bound.isForeign || !isOwn
        var settings = creation.dispatcher.endpoint.settings
        settings.urlBuilder = nil
        var call = ServiceCall(client: client, descriptor: .endpoint(.get, ""))
        call.descriptor.settings = settings
        call.target = isForeign ? .outside(session.url) : .link(session.url)
        call.options = creation.dispatcher.options
        // The total deadline of the creating call applies to the whole upload.
        if let end = creation.end { call.options.timeout = max(.zero, creation.clock.now().duration(to: end)) }
        (call.key, call.route) = (creation.identity.key, creation.identity.route)
        var captured = try CapturedCall(call)
        captured.attributes = creation.attributes
        // After a failure the upload asks for the position first, which the chain's retries can't do.
        captured.attributes[RetryPolicy.self] = .never
        captured.attributes[CacheMode.self] = .noStore
        // A piece is a range of the file's own bytes, and its response isn't the content that a digest was given for.
        captured.attributes[BodyCompression.self] = .off
        captured.attributes[ExpectedDigest.self] = nil
        captured.attributes[IdempotencyKey.self] = nil
        captured.attributes[IdempotencyKey.Given.self] = nil
        return captured
    }

    // MARK: Pieces

    /// Sends the bytes that the server lacks.
    ///
    /// - Parameters:
    ///   - state: The server's position; `nil` to ask for it.
    ///   - last: The last response; `nil` before the first.
    private func send(to session: UploadSession, from state: UploadState?, _ last: End?) async throws -> End {
        let call = try call(to: session)
        var (state, last, session) = (state ?? .unknown, last, session)
        var pace = TransferPace(options.retry ?? creation.retryPolicy, clock: call.clock, end: creation.end, random: random)
        var furthest: Int64 = -1
        // Once for each piece, the position may be asked for again without a wait.
        var mayAsk = true
        // Whether the response to the last piece was lost.
        var hasLostEnd = false
        while true {
            if case .at(let position) = state {
                hasLostEnd = false
                if position > furthest {
                    if furthest >= 0 { pace.progressed() }
                    (furthest, mayAsk) = (position, true)
                }
                note(position)
            }
            let piece: Range<Int64>?
            switch state {
            case .finished:
                guard let last else { break }
                note(source.length)
                return last
            case .gone:
                guard !hasLostEnd else { throw unknownOutcome }
                throw SessionGone()
            case .at, .unknown, .busy: break
            }
            if case .at(let position) = state { piece = rules.piece(from: position, of: source.length) } else { piece = nil }
            do {
                let end = try await exchange(call, piece)
                last = end
                state = try dialect.state(end.answer.response, end.body, sent: piece, source)
                if let expires = dialect.expiry(end.answer.response, end.body), expires != session.expires {
                    session.expires = expires
                    try keep(session)
                }
            } catch let error as ServiceError {
                // Transports report the sent bytes late, so any interruption of the last piece may have come after its last byte.
                let code = (error.cause as? TransportError)?.code
                if piece?.upperBound == source.length, code.map(NetworkWaiting.provesNothingWasSent) != true { hasLostEnd = true }
                guard let wait = pace.wait(after: error) else { throw error }
                report(.debug, "the upload was interrupted and continues in \(wait.text)")
                try await call.pause(wait)
                state = .unknown
                continue
            }
            try await pause(after: &state, piece, &pace, &mayAsk, call, last)
        }
    }

    /// Waits if the server didn't accept the piece, or its position is unknown.
    private func pause(
        after state: inout UploadState, _ piece: Range<Int64>?, _ pace: inout TransferPace, _ mayAsk: inout Bool, _ call: CapturedCall,
        _ last: End?
    ) async throws {
        switch state {
        case .at(let position) where position != piece?.lowerBound: return
        case .finished, .gone: return
        case .at where piece == nil: return
        case .at, .unknown:
            if mayAsk {
                mayAsk = false
                state = .unknown
                return
            }
        case .busy: break
        }
        let asked = last.flatMap { RetryAfter.delay(in: $0.answer.response.headers, from: call.clock.date(), limit: .longest) }
        guard let wait = pace.wait(asked) else {
            let status = last?.answer.response.status ?? 0
            throw TransferError(
                .interrupted,
                "The server accepted no more of \(source.file.lastPathComponent), with the status \(status): start the upload again later, "
                    + "or allow more attempts with a RetryPolicy.")
        }
        report(.debug, "the server accepts no more of the upload now; it continues in \(wait.text)")
        try await call.pause(wait)
        state = .unknown
    }

    /// Sends a piece, or asks for the position.
    private func exchange(_ call: CapturedCall, _ piece: Range<Int64>?) async throws -> End {
        if let piece {
            guard try source.isUnchanged() else {
                throw TransferError(
                    .sourceChanged, "\(source.file.lastPathComponent) has changed during its upload: upload it again without its session.")
            }
            report(.debug, "sends the bytes \(piece.lowerBound)..<\(piece.upperBound)")
        }
        var fault: (any Error)?
        let (total, progress) = (source.length, progress)
        let answer = try await call.send(judging: dialect.statuses) { request in
            guard let piece else { return dialect.locate(&request, source) }
            do { try dialect.send(piece, &request, source) } catch { fault = error }
            request.uploadProgress = { sent in
                progress.note(TransferProgress(completed: piece.lowerBound + sent.completed, total: total), of: .upload)
            }
        }
        if let fault {
            answer.body.cancel()
            throw fault
        }
        return End(answer: answer, body: try await body(of: answer, upTo: creation.dispatcher.endpoint.bodyLimit))
    }

    private func body(of answer: CapturedCall.Answer, upTo limit: Int) async throws -> Data {
        do {
            return try await answer.body.collect(upTo: limit)
        } catch let error as ResponseBodyTooLarge {
            throw answer.reader.broken(error)
        }
    }

    private func note(_ position: Int64) {
        progress.note(TransferProgress(completed: position, total: source.length), of: .upload)
    }

    private var unknownOutcome: TransferError {
        TransferError(
            .unknownOutcome,
            "All of \(source.file.lastPathComponent) was sent, but the final response was lost, and the session has ended: check whether "
                + "the service has the file before you upload it again.")
    }

    private func report(_ level: Diagnostics.Event.Level, _ text: String) {
        creation.diagnostics.report(.init(level, text, call: creation.identity))
    }
}

extension ResumableUpload.End {
    /// Returns the last response, decoded as the value of the call that created the session.
    func response<Value: Decodable>(of creation: CapturedCall) async throws -> ServiceResponse<Value> {
        let endpoint = creation.dispatcher.endpoint
        let reader = ResponseReader(endpoint: endpoint, exchange: answer.reader.exchange)
        if endpoint.success.contains(answer.response.status) { try await reader.judge(body, takesEmpty: true) }
        let response = answer.response
        var result = ServiceResponse(
            value: try reader.decode(Value.self, from: body), status: response.status, headers: response.headers, url: response.url,
            duration: creation.clock.now() - creation.dispatcher.started, httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        return result
    }
}
