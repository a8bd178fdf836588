import Foundation
import HTTPTransport

/// Makes payloads of records.
struct PayloadEncoder: Sendable {
    let core: ShippingCore

    enum Outcome: Sendable {
        case made(Payload)
        /// The records can't be sent together; a single one can't be sent at all.
        case failed(DropReason, String)
    }

    /// - Parameter isCompressed: whether it is compressed if the settings say so and the receiver takes it.
    func payload(of records: [LogRecord], isCompressed: Bool = true) -> Outcome {
        let body: Data
        do {
            body = try core.format.encode(records)
        } catch {
            return .failed(.unencodable, "The format can't write it: \(ValueText.text(of: error))")
        }
        guard body.count <= core.format.maximumBodyBytes else {
            return .failed(.oversize, "Its \(body.count) bytes are more than the format's \(core.format.maximumBodyBytes).")
        }
        guard isCompressed, core.coding.isTaken, case .gzip(let level) = core.settings.compression else {
            return .made(Payload(body: body, records: records.count, isSecondTry: !isCompressed))
        }
        switch core.settings.compressor(body, level) {
        case .compressed(let small): return .made(Payload(body: small, isCompressed: true, records: records.count))
        case .useless: return .made(Payload(body: body, records: records.count))
        case .missing: return .made(Payload(body: body, records: records.count, lacksCompressor: true))
        }
    }
}

/// What is known of a receiver's gzip. One that can't read compressed bodies says so by a status that could also be about the records: then the same
/// records are sent once more uncompressed, and if these are taken, so is everything from then on.
final class ContentCodingMemory: Sendable {
    private enum Knowledge: Sendable {
        case unknown, taken, refused
    }

    private let state = Locked(Knowledge.unknown)

    /// Whether compressed bodies may be sent.
    var isTaken: Bool { state.withLock { $0 != .refused } }

    /// Whether an answer may be about the coding of a body rather than about the records in it. After a 400 a batch is looked through, piece by
    /// piece: the first of those that follow one which was taken needs no second request, unless it is a record by itself, which would be dropped.
    func mayBeRefused(_ payload: Payload, status: Int?, _ verdict: DeliveryVerdict) -> Bool {
        guard payload.isCompressed else { return false }
        switch verdict {
        case .isolate, .reject, .pause: break
        // It has read the body, or wants it later.
        case .delivered, .accepted, .partiallyRejected, .each, .retry, .split: return false
        }
        switch status {
        case 415, 501: return true
        case 400:
            return state.withLock { state in
                defer { if state == .taken { state = .unknown } }
                return state != .taken || payload.records == 1
            }
        default: return false
        }
    }

    /// Learns from an answer.
    ///
    /// - Returns: whether it is known now that the receiver takes no gzip, and wasn't before.
    func note(_ verdict: DeliveryVerdict, of payload: Payload) -> Bool {
        switch verdict {
        case .delivered, .accepted, .partiallyRejected, .each: break
        case .isolate, .reject, .pause, .retry, .split: return false
        }
        return state.withLock { state in
            guard !payload.isCompressed else {
                state = .taken
                return false
            }
            // Small bodies are never compressed, and say nothing.
            guard payload.isSecondTry else { return false }
            defer { state = .refused }
            return state != .refused
        }
    }
}

/// The body of a request, made once: each attempt sends the same bytes.
struct Payload: Sendable {
    let body: Data
    var isCompressed = false
    let records: Int
    /// Whether compression was wanted and there is nothing to compress with.
    var lacksCompressor = false
    /// Whether the same was refused when it was compressed.
    var isSecondTry = false
}

/// Brings payloads to a receiver: over HTTP, or by what else it speaks.
protocol PayloadSender: Sendable {
    /// The receiver's name in messages, without secrets.
    var receiver: String { get }
    /// The receiver's clock less the one here, in nanoseconds, as far as it has told.
    var clockOffset: Int64? { get }

    func attempt(_ payload: Payload) async -> Attempt
    /// Asks whether the receiver has stored the batch of a ticket.
    func acknowledgement(of ticket: String) async -> Acknowledgement
    /// Ends connections of its own.
    func close()
}

/// What a receiver says of a batch that it has taken.
enum Acknowledgement: Sendable {
    /// It is stored.
    case stored
    /// Not yet, or never: the receiver doesn't tell these apart.
    case pending
    /// It was asked just now.
    case unasked
    /// It can't be asked now.
    case busy(String, status: Int?, retryAfter: Duration?)
    /// It can't be asked with these settings.
    case refused(reason: String, status: Int?, retryAfter: Duration?)

    /// Whether the receiver has told something.
    var isAnswered: Bool {
        switch self {
        case .stored, .pending: true
        case .unasked, .busy, .refused: false
        }
    }
}

/// What came of an attempt to send.
enum Attempt: Sendable {
    /// There is an answer; without a status where the protocol has none.
    case verdict(DeliveryVerdict, status: Int?, retryAfter: Duration?)
    /// There is none: nobody knows whether the records arrived.
    case failure(String)

    /// Whether the receiver has answered, and not that it is too busy, or that the settings are wrong.
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
