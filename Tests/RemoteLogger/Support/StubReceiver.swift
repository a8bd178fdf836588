import Foundation
import RemoteLogger
import WebServiceClient

/// A transport that answers by a script and keeps its requests.
final class StubReceiver: Transport {
    /// The reply to a request.
    enum Reply: Sendable {
        case status(Int, headers: HTTPFields = [:], body: String = "")
        /// The connection breaks; the outcome of the request is unknown.
        case broken
        /// The request never completes, and ignores cancellation.
        case hangs
    }

    let capabilities: TransportCapabilities = []
    private let script: @Sendable (_ number: Int, _ request: ServiceRequest) -> Reply
    private let log = Locked<[ServiceRequest]>([])
    private let stuck = Locked<[CheckedContinuation<Void, Never>]>([])

    /// - Parameter script: Receives the number of the request, from 0.
    init(script: @escaping @Sendable (_ number: Int, _ request: ServiceRequest) -> Reply = { _, _ in .status(200) }) {
        self.script = script
    }

    /// Answers by the list, then repeats its last element.
    convenience init(_ replies: [Reply]) {
        self.init { number, _ in replies[min(number, replies.count - 1)] }
    }

    deinit {
        for continuation in stuck.withLock({ $0 }) { continuation.resume() }
    }

    var requests: [ServiceRequest] { log.withLock { $0 } }
    var bodies: [Data] { requests.map { $0.body?.data ?? Data() } }
    /// The lines of every NDJSON body, body by body.
    var lines: [[NDJSONLine]] { bodies.map(NDJSONLine.lines) }

    /// Resumes the hanging requests.
    func release() {
        let waiting = stuck.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let number = log.withLock { log in
            log.append(request)
            return log.count - 1
        }
        switch script(number, request) {
        case .status(let status, let headers, let body):
            return TransportResponse(status: status, headers: headers, url: request.url, body: ResponseBody(Data(body.utf8)))
        case .broken:
            throw TransportError(.connectionLost, "The connection to the receiver broke.")
        case .hangs:
            await withCheckedContinuation { continuation in stuck.withLock { $0.append(continuation) } }
            throw TransportError(.timedOutWaiting, "No answer.")
        }
    }
}

/// NDJSON for a receiver that rejects records with 404.
struct RefusableFormat: LogFormat {
    let contentType = "application/x-ndjson"
    let maximumBodyBytes = 4 << 20
    func encode(_ records: [LogRecord]) throws -> Data { try NDJSONFormat().encode(records) }
    func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        answer.status == 404 ? .reject(reason: answer.excerpt) : answer.usualVerdict
    }
}

/// A line of an NDJSON body, parsed independently.
struct NDJSONLine: Decodable, Sendable, Equatable {
    enum Value: Decodable, Sendable, Equatable {
        case int(Int64), text(String), other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Int64.self) {
                self = .int(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else {
                self = .other
            }
        }
    }

    let id: String
    let sequence: UInt64
    let level: String
    let message: String
    let label: String?
    let metadata: [String: Value]?

    static func lines(of body: Data) -> [NDJSONLine] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONDecoder().decode(NDJSONLine.self, from: $0) }
    }
}
