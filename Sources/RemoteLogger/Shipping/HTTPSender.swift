import Foundation
import HTTPTransport

/// Sends payloads as HTTP requests; the format interprets the responses.
final class HTTPSender: PayloadSender {
    private let endpoint: URL
    private let format: any LogFormat
    private let transport: any Transport
    private let settings: ShippingSettings
    private let offset = Locked<Int64?>(nil)
    private let tickets = Locked(AcknowledgementTracker())

    init(endpoint: URL, format: any LogFormat, transport: any Transport, settings: ShippingSettings) {
        self.endpoint = endpoint
        self.format = format
        self.transport = transport
        self.settings = settings
    }

    var receiver: String { SecretMask.text(of: endpoint) }
    var clockOffset: Int64? { offset.withLock { $0 } }

    func attempt(_ payload: BatchBody) async -> Attempt {
        do {
            var headers = format.headers
            headers[.contentType] = format.contentType
            headers.replace(with: settings.headers)
            // The encoding depends on the payload, so settings can't override it.
            headers[.contentEncoding] = payload.isCompressed ? "gzip" : nil
            let answer = try await send(to: endpoint, headers, payload.body, records: payload.records)
            var verdict = answer.isAboutConnection ? .pause(reason: answer.excerpt) : format.judge(answer)
            // The rest of the body is unknown, which should be reported.
            if verdict == .delivered(remark: nil), let remark = answer.faultRemark { verdict = .delivered(remark: remark) }
            // A format that needs the body for its verdict doesn't know the outcome of the records.
            if case .retry = verdict, (200..<300).contains(answer.status), answer.bodyFault == .brokeOff {
                return .failure("its answer of status \(answer.status) broke off")
            }
            return .verdict(verdict, status: answer.status, retryAfter: wait(demandedBy: answer))
        } catch {
            return .failure(ValueText.text(of: error))
        }
    }

    func acknowledgement(of ticket: String) async -> Acknowledgement {
        guard let format = format as? any AcknowledgingLogFormat else { return .stored }
        let interval = format.acknowledgementInterval.wholeNanoseconds
        let asked: [String]
        switch tickets.withLock({ $0.step(for: ticket, now: settings.clock.uptime, interval: interval) }) {
        case .acknowledged: return .stored
        case .notYet: return .unasked
        case .ask(let tickets): asked = tickets
        }
        let query = format.acknowledgementQuery(for: asked, endpoint: endpoint)
        // Credentials must not go to another origin.
        guard Origin(query.url) == Origin(endpoint) else {
            return .refused(reason: "the acknowledgement query is for another origin", status: nil, retryAfter: nil)
        }
        var headers = format.headers
        headers[.contentType] = "application/json"
        headers.replace(with: query.headers)
        headers.replace(with: settings.headers)
        do {
            let answer = try await send(to: query.url, headers, query.body, records: 0)
            guard (200..<300).contains(answer.status) else { return refusal(answer) }
            guard answer.bodyFault == nil else {
                return .busy(answer.faultRemark ?? "no answer", status: answer.status, retryAfter: nil)
            }
            let acknowledged = format.acknowledged(of: asked, answer)
            tickets.withLock { $0.note(acknowledged, askedFor: ticket, now: settings.clock.uptime) }
            return acknowledged.contains(ticket) ? .stored : .pending
        } catch {
            return .busy(String(describing: error), status: nil, retryAfter: nil)
        }
    }

    /// Converts a response to a query without success. A query contains no records, so all errors but temporary ones concern the settings.
    private func refusal(_ answer: ReceiverAnswer) -> Acknowledgement {
        let retryAfter = wait(demandedBy: answer)
        switch answer.usualVerdict {
        case .retry: return .busy("status \(answer.status) for acknowledgements", status: answer.status, retryAfter: retryAfter)
        default:
            let detail = answer.excerpt.isEmpty ? "" : ": " + answer.excerpt
            return .refused(reason: "it rejects queries for acknowledgements\(detail)", status: answer.status, retryAfter: retryAfter)
        }
    }

    func close() {}

    private func send(to url: URL, _ fields: HTTPFields, _ body: Data, records: Int) async throws -> ReceiverAnswer {
        var headers = fields
        try await settings.authorize?(&headers)
        let timeout = settings.timeout
        var request = ServiceRequest(
            method: .post, url: url, headers: headers, body: RequestBody(body),
            timeouts: ServiceTimeouts(firstByte: timeout, idle: timeout, total: timeout))
        request.deadline = .now + timeout
        request.identity = OwnWork.identity
        request.trust = settings.trust
        let response = try await transport.send(request)
        noteClock(response.headers)
        let (body, fault) = await content(of: response)
        return ReceiverAnswer(status: response.status, headers: response.headers, body: body, bodyFault: fault, records: records)
    }

    /// Returns the body, which usually only explains the status. The format decides whether a missing body matters.
    private func content(of response: TransportResponse) async -> (Data, ReceiverAnswer.BodyFault?) {
        do {
            return (try await response.body.collect(upTo: ReceiverAnswer.bodyLimit), nil)
        } catch {
            response.body.cancel()
            return (Data(), error is ResponseBodyTooLarge ? .tooLarge : .brokeOff)
        }
    }

    private func noteClock(_ headers: HTTPFields) {
        let now = settings.clock.time
        guard let date = headers["Date"].flatMap({ HTTPDate.date(from: $0) })?.timeIntervalSince1970, date > 0, date < 9e9 else { return }
        let (difference, overflows) = Int64(date * 1e9).subtractingReportingOverflow(Int64(clamping: now))
        if !overflows { offset.withLock { $0 = difference } }
    }

    /// Returns the wait that the response requests: by `Retry-After`, or for a rate limit (429) by the end of the limit's period, which
    /// some receivers send instead.
    private func wait(demandedBy answer: ReceiverAnswer) -> Duration? {
        // A date is relative to the receiver's clock.
        let now = Date(timeIntervalSince1970: (Double(settings.clock.time) + Double(clockOffset ?? 0)) / 1e9)
        let limit = settings.longestRetryAfter
        if let wait = RetryAfter.delay(in: answer.headers, from: now, limit: limit) { return wait }
        guard answer.status == 429, let field = answer.headers["X-RateLimit-Reset"]?.trimmingCharacters(in: .whitespaces),
            !field.isEmpty, field.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let seconds = Int(field) ?? .max
        // Most receivers, such as Datadog, send the remaining time; others the time in seconds since 1970.
        let reset =
            seconds < 1_000_000_000 || seconds == .max ? RetryAfter.seconds(seconds) : .date(Date(timeIntervalSince1970: Double(seconds)))
        return reset.delay(from: now, limit: limit)
    }
}
