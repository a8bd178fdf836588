import Foundation
import HTTPTransport

@testable import WebServiceClient

/// Runs the retry stage alone, on a clock that jumps over each wait.
struct RetryRig {
    typealias Answer = Result<TransportResponse, any Error>

    /// The attempts and waits of a call.
    struct Run {
        let outcome: Answer
        /// The numbers of the attempts sent.
        let attempts: [Int]
        let waits: [Duration]
        let messages: [String]
        let record: CallRecord

        /// The status of the delivered response; `nil` if an error was thrown.
        var status: Int? { try? outcome.get().status }
    }

    var policy = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(1), jitter: .none))
    var attributes: [any EndpointAttribute] = []
    var method = ServiceRequest.Method.get
    var headers: HTTPFields = [:]
    var body: RequestBody?
    /// The time from the beginning to the call's deadline.
    var deadline: Duration?
    var success = StatusSet.success
    var budget: RetryBudget?
    var account = RetryAccount()
    /// The time that each attempt takes.
    var duration = Duration.zero
    var random: @Sendable () -> Double = { 0.5 }
    /// The date at the beginning.
    var date = Date(timeIntervalSince1970: 784_111_777)
    /// What happens when a wait begins, instead of its end.
    var onWait: (@Sendable (CallRecord) -> Void)?

    static func answer(_ status: Int, _ headers: HTTPFields = [:]) -> Answer {
        .success(TransportResponse(status: status, headers: headers, url: URL(filePath: "/")))
    }

    static func failure(_ code: TransportError.Code, stale: Bool = false, unprocessed: Bool = false) -> Answer {
        var error = TransportError(code, "Failed.")
        error.isConnectionStale = stale || unprocessed
        error.isUnprocessed = unprocessed
        return .failure(error)
    }

    /// The last answer is given again and again.
    func run(_ answers: Answer..., record shared: CallRecord? = nil) async -> Run {
        let elapsed = Locked(Duration.zero)
        let waits = Locked<[Duration]>([])
        let attempts = Locked<[Int]>([])
        let messages = Locked<[String]>([])
        var all = EndpointAttributes()
        for attribute in attributes { all.set(attribute) }
        let record =
            shared
            ?? CallRecord(
                identity: CallIdentity(client: "Client", key: "call()", route: "/"), attributes: all, serviceOrigin: nil, isForeign: false,
                cacheIdentifier: nil, diagnostics: Diagnostics { event in messages.withLock { $0.append(event.message) } },
                success: success)
        let start = MonotonicInstant.now
        let clock = CallClock(
            now: { start.advanced(by: elapsed.withLock { $0 }) },
            date: { [date] in date.addingTimeInterval(elapsed.withLock { $0 } / .seconds(1)) },
            schedule: { [onWait] wait, action in
                waits.withLock { $0.append(wait) }
                elapsed.withLock { $0 = min($0 + wait.bounded, .longest) }
                if let onWait { onWait(record) } else { action() }
                return {}
            })
        var stage = Retry(
            policy: policy, clock: clock, allowance: RetryAllowance(budget: budget, account: account))
        stage.random = random
        var request = ServiceRequest(method: method, url: URL(filePath: "/"), headers: headers, body: body)
        request.end = deadline.map { start.advanced(by: $0) }
        let outcome: Answer
        do {
            outcome = .success(
                try await stage.intercept(request, context: CallContext(record)) { [duration] _, context in
                    let index = attempts.withLock { attempts in
                        attempts.append(context.attempt)
                        return attempts.count - 1
                    }
                    elapsed.withLock { $0 += duration }
                    return try answers[min(index, answers.count - 1)].get()
                })
        } catch {
            outcome = .failure(error)
        }
        return Run(
            outcome: outcome, attempts: attempts.withLock { $0 }, waits: waits.withLock { $0 }, messages: messages.withLock { $0 },
            record: record)
    }
}
