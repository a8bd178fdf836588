import Foundation
import WebServiceClient

/// The body of a request, made once: each attempt sends the same bytes.
struct Payload: Sendable {
    let body: Data
    var isCompressed = false
    let records: Int
    /// Whether compression was wanted and there is nothing to compress with.
    var lacksCompressor = false
}

/// Makes requests of records, sends them, and reads the answers.
struct Delivery: Sendable {
    let core: ShippingCore

    enum PayloadResult: Sendable {
        case made(Payload)
        /// The records can't be sent together; a single one can't be sent at all.
        case failed(DropReason, String)
    }

    func payload(of piece: ArraySlice<StoredRecord>) -> PayloadResult {
        let body: Data
        do {
            body = try core.format.encode(piece.map(\.record))
        } catch {
            return .failed(.unencodable, "The format can't write it: \(error)")
        }
        guard body.count <= core.format.maximumBodyBytes else {
            return .failed(.oversize, "Its \(body.count) bytes are more than the format's \(core.format.maximumBodyBytes).")
        }
        guard case .gzip(let level) = core.settings.compression else { return .made(Payload(body: body, records: piece.count)) }
        switch core.settings.compressor(body, level) {
        case .compressed(let small): return .made(Payload(body: small, isCompressed: true, records: piece.count))
        case .useless: return .made(Payload(body: body, records: piece.count))
        case .missing: return .made(Payload(body: body, records: piece.count, lacksCompressor: true))
        }
    }

    enum Attempt: Sendable {
        /// There is an answer.
        case verdict(DeliveryVerdict, status: Int, retryAfter: Duration?)
        /// There is none: nobody knows whether the records arrived.
        case failure(String)
    }

    func attempt(_ payload: Payload) async -> Attempt {
        do {
            let response = try await core.transport.send(try await request(for: payload))
            core.note(status: response.status)
            let answer = ReceiverAnswer(
                status: response.status, headers: response.headers, body: await body(of: response), records: payload.records)
            return .verdict(core.format.judge(answer), status: response.status, retryAfter: retryAfter(in: response.headers))
        } catch {
            return .failure(String(describing: error))
        }
    }

    private func request(for payload: Payload) async throws -> ServiceRequest {
        var headers: HTTPFields = [:]
        headers[.contentType] = core.format.contentType
        headers.replace(with: core.settings.headers)
        // The encoding is a fact and no setting.
        headers[.contentEncoding] = payload.isCompressed ? "gzip" : nil
        try await core.settings.authorize?(&headers)
        let timeout = core.settings.timeout
        var request = ServiceRequest(
            method: .post, url: core.endpoint, headers: headers, body: RequestBody(payload.body),
            timeouts: ServiceTimeouts(firstByte: timeout, idle: timeout, total: timeout))
        request.deadline = .now + timeout
        request.identity = OwnWork.identity
        return request
    }

    /// The body, which only explains: when it can't be read, the status still says what became of the records.
    private func body(of response: TransportResponse) async -> Data {
        do {
            return try await response.body.collect(upTo: ReceiverAnswer.bodyLimit)
        } catch {
            response.body.cancel()
            return Data()
        }
    }

    private func retryAfter(in headers: HTTPFields) -> Duration? {
        let now = Date(timeIntervalSince1970: Double(core.settings.clock.time) / 1e9)
        return headers[.retryAfter].flatMap(RetryAfter.init)?.delay(from: now, limit: core.settings.longestRetryAfter)
    }
}
