import Foundation

/// One download to a file: sends requests until the file is complete, and continues an earlier download.
///
/// The bytes that are in the partial file are never requested again, unless the server sends something that they can't be combined with;
/// ``DownloadVerdict`` decides that.
struct ResumableDownload: Sendable {
    private let call: CapturedCall
    private let destination: URL
    private let options: DownloadOptions
    /// The digest that the call expects.
    private let digest: ContentDigest?
    private let progress: CallProgress
    private let tally = Locked(Tally())
    /// Makes random numbers between 0 and 1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The state of the download so far.
    private struct Tally {
        var received: Int64 = 0
        var requests = 0
        var restarts: [String] = []
        var headers: HTTPFields = [:]
        /// Whether the first request after a restart asks for the whole file.
        var avoidsRanges = false
        /// Whether the file is sent with a content coding, so that it can only be received as a whole.
        var isCoded = false
    }

    /// The maximum number of restarts.
    private static let restartLimit = 3

    init(
        _ call: CapturedCall, to destination: URL, _ options: DownloadOptions, progress: (@Sendable (TransferProgress) -> Void)?
    ) throws(TransferError) {
        try options.check()
        guard call.bound.request.method == .get, call.bound.request.body == nil else {
            throw TransferError(
                .unusable,
                "\(call.identity) is a \(call.bound.request.method), but ranges exist for GET only (RFC 9110 §14.2): use stream() and "
                    + "write(to:).")
        }
        guard !call.bound.request.headers.contains(.range), !call.bound.request.headers.contains("If-Range") else {
            throw TransferError(.unusable, "\(call.identity) has a Range of its own, which the download sets: remove it.")
        }
        var call = call
        if let policy = options.retry { call.attributes[RetryPolicy.self] = policy }
        // The cache must not store a second copy.
        call.attributes[CacheMode.self] = .noStore
        if let expected = call.attributes[ExpectedDigest.self] {
            // It is the digest of the whole file, not of a range.
            if let fault = expected.fault { throw TransferError(.unusable, "\(call.identity): \(fault.problem); \(fault.fix).") }
            digest = expected.digest
            call.attributes[ExpectedDigest.self] = nil
        } else {
            digest = nil
        }
        if !call.dispatcher.endpoint.hasOwnAccept { call.bound.request.headers[.accept] = "*/*" }
        self.call = call
        self.destination = destination
        self.options = options
        let handle = call.progress
        self.progress = CallProgress { direction, state in
            handle?.note(state, of: direction)
            progress?(state)
        }
    }

    /// Downloads the file.
    func run() async throws -> DownloadedFile {
        let file = try PartialFile(destination, replacing: options.replacing)
        if let note = file.note { report(.notice, "the partial file of \(file.place.name) isn't continued, because \(note)") }
        let url = SecretMask.text(of: call.bound.request)
        do {
            if let record = file.record, record.url != url {
                report(.notice, "the partial file of \(file.place.name) isn't continued, because it belongs to \(record.url)")
                try file.reset()
            }
            reportProgress(file)
            try await complete(file, url)
            return try await finish(file)
        } catch {
            // Without a validator, nothing can continue the file.
            if file.record?.validator == nil { file.discard() } else { try? file.synchronize() }
            throw error
        }
    }

    /// Requests the missing bytes, and starts over if necessary.
    private func complete(_ file: PartialFile, _ url: String) async throws {
        while let again = try await reasonToStartOver(file, url) { try startOver(again, of: file) }
    }

    /// Fetches the file.
    ///
    /// - Returns: Why the download must begin again; `nil` if the file is complete.
    private func reasonToStartOver(_ file: PartialFile, _ url: String) async throws -> DownloadVerdict.StartOver? {
        do {
            try await fetch(file, url)
            return nil
        } catch let again as DownloadVerdict.StartOver {
            return again
        }
    }

    /// Empties the file, unless it has begun again too often.
    ///
    /// Not inlined, because Swift 6.3's optimizer crashes on these typed errors in the coroutine of `complete`.
    @inline(never)
    private func startOver(_ again: DownloadVerdict.StartOver, of file: PartialFile) throws {
        let count = noteRestart(again.reason, of: file)
        guard count <= Self.restartLimit else {
            throw TransferError(
                .invalidAnswer,
                "The download of \(file.place.name) has begun again \(count - 1) times and ends, because \(again.reason): "
                    + "check the server, or read the response with stream().")
        }
        tally.withLock {
            $0.avoidsRanges = again.hasBadRanges
            $0.isCoded = $0.isCoded || again.isCoded
        }
        try file.reset()
    }

    /// - Returns: The number of restarts.
    private func noteRestart(_ reason: String, of file: PartialFile) -> Int {
        report(.notice, "the download of \(file.place.name) begins again, because \(reason)")
        return tally.withLock { tally in
            tally.restarts.append(reason)
            return tally.restarts.count
        }
    }

    // MARK: Pieces

    private func fetch(_ file: PartialFile, _ url: String) async throws {
        while true {
            guard let record = file.record, record.length != nil else {
                // Several requests need the length, which the first response has.
                try await fill(0, of: file, url, isFirst: true)
                if let record = file.record, record.isComplete { return }
                continue
            }
            if options.segments > 1 { try file.update { $0.split(for: options.segments) } }
            let open = (file.record ?? record).pieces.indices.filter { !(file.record ?? record).pieces[$0].isComplete }
            guard !open.isEmpty else { return }
            try await fill(open, of: file, url)
        }
    }

    /// Fills pieces with as many concurrent requests as the options allow.
    private func fill(_ open: [Int], of file: PartialFile, _ url: String) async throws {
        guard options.segments > 1, open.count > 1 else {
            for index in open { try await fill(index, of: file, url) }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, index) in open.enumerated() {
                if number >= options.segments { try await group.next() }
                group.addTask { try await fill(index, of: file, url) }
            }
            try await group.waitForAll()
        }
    }

    /// Fills a piece. An interrupted body is resumed where it was cut off.
    ///
    /// - Parameter isFirst: Whether the method returns after the first body, even if the piece isn't complete.
    private func fill(_ index: Int, of file: PartialFile, _ url: String, isFirst: Bool = false) async throws {
        var pace = TransferPace(call.retryPolicy, clock: call.clock, end: call.end, random: random)
        var furthest = file.record?.pieces[index].position ?? 0
        while true {
            if let record = file.record, record.pieces[index].isComplete { return }
            var failure: (any Error)?
            let question = question(index, file.record)
            let answer = try await ask(question, file.record)
            do {
                try await take(answer, to: question, index, file, url)
            } catch is DownloadVerdict.StartOver where Task.isCancelled {
                throw CancellationError()
            } catch let error as ServiceError {
                failure = error
            }
            // A server without ranges begins again each time, so only bytes beyond all earlier attempts are progress.
            let position = file.record?.pieces[index].position ?? 0
            let hasProgress = position > furthest
            if hasProgress {
                furthest = position
                pace.progressed()
            }
            guard let failure else {
                if isFirst { return }
                // A response may be shorter than the requested range: the next request asks for the rest.
                guard hasProgress || file.record?.pieces[index].isComplete == true else {
                    throw TransferError(.invalidAnswer, "The server sends nothing more of \(file.place.name): start the download again.")
                }
                continue
            }
            guard let wait = pace.wait(after: failure) else { throw failure }
            report(.debug, "the download of \(file.place.name) was interrupted at byte \(position) and continues in \(wait.text)")
            try await call.pause(wait)
            // Now that the length is known, several requests can fetch the rest.
            if isFirst, file.record?.length != nil { return }
        }
    }

    private func question(_ index: Int, _ record: DownloadRecord?) -> DownloadVerdict.Question {
        let (avoidsRanges, isCoded) = tally.withLock { ($0.avoidsRanges, $0.isCoded) }
        guard let record, record.validator != nil, !isCoded else {
            // A short range proves that the server has ranges, and costs nothing if it has none.
            let probes = options.segments > 1 && !avoidsRanges && !isCoded && record == nil
            return .init(position: 0, end: probes ? DownloadRecord.smallestPiece : nil, isRange: probes)
        }
        let piece = record.pieces[index]
        let isLast = index == record.pieces.count - 1
        return .init(
            position: piece.position, end: isLast ? nil : piece.end, isRange: piece.position > 0 || !isLast,
            isSequential: record.pieces.count == 1)
    }

    // MARK: Answers

    private func ask(_ question: DownloadVerdict.Question, _ record: DownloadRecord?) async throws -> CapturedCall.Answer {
        let isCoded = tally.withLock { tally in
            tally.requests += 1
            return tally.isCoded
        }
        let answer = try await call.send(judging: [206, 416]) { request in
            request.headers[.acceptEncoding] = isCoded ? nil : "identity"
            request.headers[.range] = question.isRange ? question.range : nil
            request.headers["If-Range"] = question.isRange ? record?.validator?.text : nil
        }
        tally.withLock { $0.headers = answer.response.headers }
        return answer
    }

    private func take(
        _ answer: CapturedCall.Answer, to question: DownloadVerdict.Question, _ index: Int, _ file: PartialFile, _ url: String
    ) async throws {
        let response = answer.response
        let (status, headers) = (response.status, response.headers)
        do {
            if tally.withLock({ $0.isCoded }), status != 206, status != 416 {
                // A body that the transport decodes has no expected length.
                let codings = ContentCoding.names(in: headers)
                guard codings.allSatisfy({ ContentCoding(name: $0) != nil }), response.body.expectedLength == nil || codings.isEmpty else {
                    throw TransferError(
                        .invalidAnswer,
                        "The server compresses \(file.place.name) with a coding that the transport can't decode: ask the service to send it "
                            + "unencoded.")
                }
                return try await takeWhole(answer, length: nil, file, url)
            }
            switch DownloadVerdict(status: status, headers: headers, to: question, of: file.record) {
            case .startOver(let reason):
                throw reason
            case .complete:
                try file.update { record in
                    record.length = question.position
                    record.pieces[index].end = question.position
                }
                answer.body.cancel()
            case .part(let start, let end, let total):
                try await takePart(answer, from: start, upTo: end, total: total, index, file, url)
            case .whole:
                guard ![202, 204, 205].contains(status), status >= 200 else {
                    throw TransferError(
                        .invalidAnswer, "The server answered \(status), which isn't a file, for \(file.place.name): check the URL.")
                }
                let length = ContentRange.number(headers[.contentLength] ?? "") ?? response.body.expectedLength
                try await takeWhole(answer, length: length, file, url)
            }
        } catch {
            answer.body.cancel()
            throw error
        }
    }

    private func takePart(
        _ answer: CapturedCall.Answer, from start: Int64, upTo end: Int64, total: Int64?, _ index: Int, _ file: PartialFile, _ url: String
    ) async throws {
        let headers = answer.response.headers
        if let record = file.record {
            if start < record.pieces[index].position { try file.cut(at: start) }
            if record.length == nil, let total {
                guard total >= end else {
                    throw DownloadVerdict.StartOver(reason: "the server's Content-Range contradicts itself", hasBadRanges: true)
                }
                try file.update { record in
                    record.length = total
                    record.pieces[record.pieces.count - 1].end = total
                }
            }
        } else {
            try file.begin(
                DownloadRecord(
                    url: url, validator: EntityValidator(headers), length: total,
                    checksums: DownloadRecord.checksums(in: headers, isWhole: false)))
        }
        try await receive(answer, from: start, upTo: end, index, file)
    }

    private func takeWhole(_ answer: CapturedCall.Answer, length: Int64?, _ file: PartialFile, _ url: String) async throws {
        let headers = answer.response.headers
        let isCoded = tally.withLock { $0.isCoded }
        if let record = file.record {
            guard record.pieces.count == 1 else {
                throw DownloadVerdict.StartOver(reason: "the server sent the whole file instead of a range", hasBadRanges: true)
            }
            if record.done > 0 {
                let isSame = record.validator != nil && record.validator == EntityValidator(headers)
                let reason = isSame ? "the server has no ranges" : "the file has changed, or the server has no ranges"
                tally.withLock { $0.restarts.append(reason) }
                report(.notice, "the download of \(file.place.name) begins again, because \(reason)")
            }
        }
        try file.begin(
            DownloadRecord(
                url: url, validator: isCoded ? nil : EntityValidator(headers), length: length,
                checksums: isCoded ? [] : DownloadRecord.checksums(in: headers, isWhole: true)))
        try await receive(answer, from: 0, upTo: length, 0, file)
        guard length == nil else { return }
        try file.update { record in
            record.length = record.done
            record.pieces[0].end = record.done
        }
    }

    /// Writes a body to a piece.
    ///
    /// - Parameter end: The end of the body's range, exclusive; `nil` if it is unknown.
    private func receive(
        _ answer: CapturedCall.Answer, from start: Int64, upTo end: Int64?, _ index: Int, _ file: PartialFile
    ) async throws {
        let pieceEnd = file.record?.pieces[index].end
        var position = start
        let body = answer.body
        for try await chunk in body {
            if let end, Int64(chunk.count) > end - position {
                throw DownloadVerdict.StartOver(reason: "the server sent more bytes than it announced", hasBadRanges: true)
            }
            let taken = chunk.prefix(Int(min(Int64(chunk.count), (pieceEnd ?? .max) - position)))
            try file.append(taken, toPiece: index)
            position += Int64(taken.count)
            tally.withLock { $0.received += Int64(taken.count) }
            reportProgress(file)
            if position == pieceEnd, position != end {
                body.cancel()
                return
            }
        }
        guard let end, position < end else { return }
        throw answer.reader.broken(
            TransportError(.truncated, "The body of \(file.place.name) ended \(end - position) bytes before the end of its range."))
    }

    // MARK: The end

    private func finish(_ file: PartialFile) async throws -> DownloadedFile {
        guard let record = file.record, let length = record.length else {
            throw TransferError(.storage, "The record of \(file.place.name) is missing: start the download again.")
        }
        let expected = record.checksums + (options.checksum.map { [$0] } ?? []) + (digest.map { [$0] } ?? [])
        let computed = try await file.digests(Set(expected.map(\.algorithm)))
        try call.dispatcher.checkCancellation()
        for checksum in expected {
            guard let found = computed.first(where: { $0.algorithm == checksum.algorithm }) else { continue }
            guard found == checksum else {
                // These bytes can't become a correct file.
                file.discard()
                throw TransferError(
                    .checksum,
                    "The checksum of \(file.place.name) is \(found), but should be \(checksum): the bytes are discarded. Download it again, "
                        + "and check whether the server's file is intact.")
            }
        }
        try file.moveInPlace(length: length)
        progress.note(TransferProgress(completed: length, total: length), of: .download)
        return tally.withLock {
            DownloadedFile(
                file: destination, length: length, received: $0.received, requests: $0.requests, restarts: $0.restarts, headers: $0.headers)
        }
    }

    private func reportProgress(_ file: PartialFile) {
        guard let record = file.record else { return }
        progress.note(TransferProgress(completed: record.done, total: record.length), of: .download)
    }

    private func report(_ level: Diagnostics.Event.Level, _ text: String) {
        call.diagnostics.report(.init(level, text, call: call.identity))
    }
}
