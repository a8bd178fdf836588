import Foundation
import WebServiceClient

/// Sends the reads that tasks make at the same time as one batch.
///
///     client.deferredBatch = DeferredBatch()
///     async let ada = client.fetch(FetchRequest<User>().key("ada"))
///     async let orders = client.page(FetchRequest<Order>().top(5))           // one request for both
///
/// It applies to reads of entities, values, pages and counts. Changes, actions, streamed pages and queries that are posted are sent on their
/// own, and so are reads that can't be part of a batch, and a read that is alone. Each read throws its own error. The client's cache, and
/// the timeouts of a single read, don't apply to reads in a batch.
public struct DeferredBatch: Sendable, Hashable {
    /// The time from the first waiting read until the batch is sent. Default: 5 milliseconds.
    public var window: Duration
    /// The maximum number of reads in a batch, which is sent at once when it is reached; the client's ``BatchSettings/limit`` applies too.
    /// Default: 100.
    public var limit: Int

    /// Creates settings.
    public init(window: Duration = .milliseconds(5), limit: Int = 100) {
        self.window = window
        self.limit = limit
    }
}

extension ODataClient {
    /// Whether and how reads at the same time are sent as one batch; `nil`, the default, sends each on its own.
    public var deferredBatch: DeferredBatch? {
        get { (readDeferral as? DeferredReads)?.settings }
        set {
            let old = readDeferral as? DeferredReads
            readDeferral = newValue.map { DeferredReads($0) }
            // Nothing would send the waiting reads otherwise.
            old?.end(self)
        }
    }
}

/// The reads of a client that wait for their batch.
final class DeferredReads: ReadDeferral {
    private typealias Waiter = CheckedContinuation<TransportResponse?, any Error>

    private struct State {
        /// The reads in their order, until they are sent.
        var unsent: [(number: Int, call: EnclosedCall)] = []
        /// The waiting callers, until they have a response.
        var waiters: [Int: Waiter] = [:]
        var count = 0
        /// The number of batches, which tells an outdated timer.
        var batches = 0
        /// Whether the client has other settings now. A read that still comes here is sent on its own.
        var isEnded = false
    }

    let settings: DeferredBatch
    private let state = Locked(State())

    init(_ settings: DeferredBatch) { self.settings = settings }

    func answer(to call: EnclosedCall, of client: ODataClient) async throws -> TransportResponse? {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(number, call, continuation, client)
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.unsent.removeAll { $0.number == number }
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enqueue(_ number: Int, _ call: EnclosedCall, _ waiter: Waiter, _ client: ODataClient) {
        let limit = max(1, min(settings.limit, client.batching.limit ?? .max))
        enum Turn { case cancelled, alone, first(batch: Int), waits, full }
        let turn: Turn = state.withLock { state in
            if Task.isCancelled { return .cancelled }
            if state.isEnded { return .alone }
            state.waiters[number] = waiter
            state.unsent.append((number, call))
            if state.unsent.count >= limit { return .full }
            return state.unsent.count == 1 ? .first(batch: state.batches) : .waits
        }
        switch turn {
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .alone: waiter.resume(returning: nil)
        case .waits: break
        case .full: flush(client)
        case .first(let batch):
            client.schedule(after: settings.window) { [self] in
                if state.withLock({ $0.batches == batch }) { flush(client) }
            }
        }
    }

    /// Sends the waiting reads, and lets none wait any more.
    func end(_ client: ODataClient) {
        state.withLock { $0.isEnded = true }
        flush(client)
    }

    /// Sends the waiting reads.
    private func flush(_ client: ODataClient) {
        let reads = state.withLock { state in
            defer {
                state.unsent = []
                state.batches += 1
            }
            return state.unsent
        }
        guard reads.count > 1 else {
            for read in reads { take(read.number)?.resume(returning: nil) }
            return
        }
        // A task of its own, because the batch belongs to all callers and doesn't end with the first of them.
        Task { await send(reads, client) }
    }

    private func send(_ reads: [(number: Int, call: EnclosedCall)], _ client: ODataClient) async {
        do {
            let form = try client.batchForm(HTTPFields())
            var writer = BatchWriter(isJSON: form.isJSON, statesLengths: form.statesLengths)
            var body = Data()
            var sent: [(number: Int, call: EnclosedCall)] = []
            for read in reads where isWaiting(read.number) {
                do {
                    body.append(try writer.unit([try form.request(read.call, number: sent.count + 1, group: nil)]))
                    sent.append(read)
                } catch {
                    // What can't be part of a batch is sent on its own.
                    take(read.number)?.resume(returning: nil)
                }
            }
            guard sent.count > 1 else {
                for read in sent { take(read.number)?.resume(returning: nil) }
                return
            }
            body.append(writer.end())
            let matcher = BatchMatcher(numbers: 1...sent.count, isJSON: form.isJSON, stops: false)
            let exchange = try await client.exchange(RequestBody(body), writer, HTTPFields(), .proceed, isSafe: true, matcher)
            // Only the whole answer tells whether its responses belong to these reads.
            var verdicts: [Int: BatchVerdict] = [:]
            while let (number, verdict) = try await exchange.next() { verdicts[number] = verdict }
            for (index, read) in sent.enumerated() {
                guard let waiter = take(read.number) else { continue }
                let answering = BatchAnswering(client: client, identity: read.call.identity, scope: BatchScope())
                switch verdicts[index + 1] {
                case .reply(let reply)?, .accepted(let reply)?, .groupFailed(let reply, _)?:
                    waiter.resume(returning: answering.response(reply, at: read.call.request.url))
                case .notProcessed?: waiter.resume(throwing: answering.failure(.notProcessed))
                case .unanswered(let reason)?: waiter.resume(throwing: answering.failure(.unanswered(reason)))
                case .malformed(let reason)?: waiter.resume(throwing: answering.failure(.malformed(reason)))
                case nil: waiter.resume(throwing: answering.failure(.unanswered("the answer ended before it")))
                }
            }
        } catch {
            for read in reads { take(read.number)?.resume(throwing: error) }
        }
    }

    private func isWaiting(_ number: Int) -> Bool { state.withLock { $0.waiters[number] != nil } }

    private func take(_ number: Int) -> Waiter? { state.withLock { $0.waiters.removeValue(forKey: number) } }
}
