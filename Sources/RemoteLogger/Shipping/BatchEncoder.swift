import Foundation
import HTTPTransport

/// Encodes records as payloads.
struct BatchEncoder: Sendable {
    let core: ShippingCore

    enum Outcome: Sendable {
        case made(BatchBody)
        /// The records can't be sent together, or a single record can't be sent at all.
        case failed(DropReason, String)
    }

    /// Encodes records as one payload.
    ///
    /// - Parameter isCompressed: Whether to compress the payload if the settings and the receiver allow it.
    func payload(of records: [LogRecord], isCompressed: Bool = true) -> Outcome {
        let body: Data
        do {
            body = try core.format.encode(records)
        } catch {
            return .failed(.unencodable, "The format can't encode it: \(ValueText.text(of: error))")
        }
        guard body.count <= core.format.maximumBodyBytes else {
            return .failed(.oversize, "Its \(body.count) bytes exceed the format's limit of \(core.format.maximumBodyBytes).")
        }
        guard isCompressed, core.coding.isTaken, case .gzip(let level) = core.settings.compression else {
            return .made(BatchBody(body: body, records: records.count, isSecondTry: !isCompressed))
        }
        switch core.settings.compressor(body, level) {
        case .compressed(let small): return .made(BatchBody(body: small, isCompressed: true, records: records.count))
        case .useless: return .made(BatchBody(body: body, records: records.count))
        case .missing: return .made(BatchBody(body: body, records: records.count, lacksCompressor: true))
        }
    }
}

/// The receiver's support for gzip. Some receivers reject compressed bodies with a status that could also concern the records. The same
/// records are then sent once uncompressed; if they are accepted, all later bodies are uncompressed, too.
final class ContentCodingMemory: Sendable {
    private enum Knowledge: Sendable {
        case unknown, taken, refused
    }

    private let state = Locked(Knowledge.unknown)

    /// Whether compressed bodies may be sent.
    var isTaken: Bool { state.withLock { $0 != .refused } }

    /// Returns whether a response may concern the coding of a body instead of its records. After a 400 or 422, a batch is searched piece by
    /// piece: the first refused piece after an accepted one needs no second request, unless it is a single record, which would be dropped.
    func mayBeRefused(_ payload: BatchBody, status: Int?, _ verdict: DeliveryVerdict) -> Bool {
        guard payload.isCompressed else { return false }
        switch verdict {
        case .isolate, .reject, .pause: break
        // The receiver has read the body, or can't accept it now, so the response doesn't concern the coding.
        case .delivered, .accepted, .partiallyRejected, .each, .retry, .split: return false
        }
        switch status {
        case 406, 415, 501: return true
        case 400, 422:
            return state.withLock { state in
                defer { if state == .taken { state = .unknown } }
                return state != .taken || payload.records == 1
            }
        default: return false
        }
    }

    /// Learns from a response.
    ///
    /// - Returns: Whether the response is the first to show that the receiver doesn't accept gzip.
    func note(_ verdict: DeliveryVerdict, of payload: BatchBody) -> Bool {
        switch verdict {
        case .delivered, .accepted, .partiallyRejected, .each: break
        case .isolate, .reject, .pause, .retry, .split: return false
        }
        return state.withLock { state in
            guard !payload.isCompressed else {
                state = .taken
                return false
            }
            // Small bodies are never compressed, so responses to them don't show whether the server supports gzip.
            guard payload.isSecondTry else { return false }
            defer { state = .refused }
            return state != .refused
        }
    }
}

/// The body of a request, encoded once: each attempt sends the same bytes.
struct BatchBody: Sendable {
    let body: Data
    var isCompressed = false
    let records: Int
    /// Whether compression was requested but isn't available.
    var lacksCompressor = false
    /// Whether the compressed form was refused.
    var isSecondTry = false
}

/// Delivers payloads over HTTP or syslog.
protocol PayloadSender: Sendable {
    /// The receiver's name in messages, without secrets.
    var receiver: String { get }
    /// The receiver's clock minus the local one, in nanoseconds, if known.
    var clockOffset: Int64? { get }

    func attempt(_ payload: BatchBody) async -> Attempt
    /// Asks whether the receiver has stored the batch of a ticket.
    func acknowledgement(of ticket: String) async -> Acknowledgement
    /// Closes the sender's connections.
    func close()
}

/// The receiver's acknowledgement state of an accepted batch.
enum Acknowledgement: Sendable {
    /// The batch is stored.
    case stored
    /// Not yet, or never: the receiver doesn't distinguish these.
    case pending
    /// The receiver was queried just now.
    case unasked
    /// The receiver can't be queried now.
    case busy(String, status: Int?, retryAfter: Duration?)
    /// The receiver can't be queried with these settings.
    case refused(reason: String, status: Int?, retryAfter: Duration?)

    /// Whether the receiver has answered.
    var isAnswered: Bool {
        switch self {
        case .stored, .pending: true
        case .unasked, .busy, .refused: false
        }
    }
}

/// The result of an attempt to send.
enum Attempt: Sendable {
    /// The receiver has responded; the status is `nil` if the protocol has none.
    case verdict(DeliveryVerdict, status: Int?, retryAfter: Duration?)
    /// No response: the records may or may not have arrived.
    case failure(String)

    /// Whether the receiver has responded without being too busy or rejecting the settings.
    var isAnswer: Bool {
        switch self {
        case .failure, .verdict(.retry, _, _), .verdict(.pause, _, _): false
        case .verdict(.each(let verdicts), _, _):
            verdicts.allSatisfy { verdict in
                switch verdict {
                case .retry, .pause: false
                case .delivered, .rejected: true
                }
            }
        case .verdict: true
        }
    }
}
