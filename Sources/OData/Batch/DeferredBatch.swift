import Foundation
import WebServiceClient

/// Sends the reads that tasks make at the same time as one batch.
///
///     client.deferredBatch = DeferredBatch()
///     async let ada = client.fetch(FetchRequest<User>().key("ada"))
///     async let orders = client.page(FetchRequest<Order>().top(5))           // one request for both
///
/// It applies to reads of entities, values, pages and counts. Changes, actions, streamed pages and posted queries are sent separately, and
/// so are reads that can't be part of a batch, and a read without others at the same time. Each read throws its own error. The client's
/// cache, and the timeouts of a single read, don't apply to reads in a batch.
public struct DeferredBatch: Sendable, Hashable {
    /// The time from the first waiting read until the batch is sent. Default: 5 milliseconds.
    public var window: Duration
    /// The maximum number of reads in a batch. A batch that reaches it is sent immediately. The client's ``BatchSettings/limit`` applies
    /// too. Default: 100.
    public var limit: Int

    /// Creates settings.
    public init(window: Duration = .milliseconds(5), limit: Int = 100) {
        self.window = window
        self.limit = limit
    }
}

extension ODataClient {
    /// Whether and how reads at the same time are sent as one batch; `nil`, the default, sends each read separately.
    public var deferredBatch: DeferredBatch? {
        get { (readDeferral as? DeferredReads)?.settings }
        set {
            let old = readDeferral as? DeferredReads
            readDeferral = newValue.map { DeferredReads($0) }
            // Without this, no timer would send the waiting reads.
            old?.end(self)
        }
    }
}

/// The reads of a client that wait for their batch.
final class DeferredReads: ReadDeferral {
    private typealias Waiter = CheckedContinuation<TransportResponse?, any Error>
    private typealias Read = (number: Int, call: EnclosedCall)

    private struct State {
        /// The reads in their order, until they are sent.
        var unsent: [Read] = []
        /// The waiting callers, until they have a response.
        var waiters: [Int: Waiter] = [:]
        var count = 0
        /// The number of batches, which identifies an outdated timer.
        var batches = 0
        /// Whether the client has other settings now. Later reads are sent separately.
        var isEnded = false

        mutating func takeUnsent() -> [Read] {
            defer { unsent = [] }
            batches += 1
            return unsent
        }
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
        let limit = limit(client)
        enum Turn { case cancelled, alone, first(batch: Int), waits, full([Read]) }
        let turn: Turn = state.withLock { state in
            if Task.isCancelled { return .cancelled }
            if state.isEnded { return .alone }
            state.waiters[number] = waiter
            state.unsent.append((number, call))
            // The reads are taken while the lock is held. Otherwise another read could exceed the limit.
            if state.unsent.count >= limit { return .full(state.takeUnsent()) }
            return state.unsent.count == 1 ? .first(batch: state.batches) : .waits
        }
        switch turn {
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .alone: waiter.resume(returning: nil)
        case .waits: break
        case .full(let reads): send(reads, upTo: limit, client)
        case .first(let batch):
            client.schedule(after: settings.window) { [self] in
                if state.withLock({ $0.batches == batch }) { flush(client) }
            }
        }
    }

    /// Sends the waiting reads, and refuses later ones.
    func end(_ client: ODataClient) {
        state.withLock { $0.isEnded = true }
        flush(client)
    }

    /// Sends the waiting reads.
    private func flush(_ client: ODataClient) {
        send(state.withLock { $0.takeUnsent() }, upTo: limit(client), client)
    }

    /// The maximum number of reads in a batch.
    private func limit(_ client: ODataClient) -> Int { max(1, min(settings.limit, client.batching.limit ?? .max)) }

    /// Sends reads, in several batches if the limit was lowered while they waited.
    private func send(_ reads: [Read], upTo limit: Int, _ client: ODataClient) {
        var rest = reads[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(limit))
            rest = rest.dropFirst(some.count)
            guard some.count > 1 else {
                for read in some { take(read.number)?.resume(returning: nil) }
                continue
            }
            // An unstructured task, because the batch belongs to all callers and must not end when the first one is cancelled.
            Task { await send(some, client) }
        }
    }

    private func send(_ reads: [Read], _ client: ODataClient) async {
        do {
            let form = try client.batchForm(HTTPFields())
            var writer = BatchWriter(isJSON: form.isJSON, statesLengths: form.statesLengths)
            var body = Data()
            var sent: [Read] = []
            for read in reads where isWaiting(read.number) {
                do {
                    body.append(try writer.unit([try form.request(read.call, number: sent.count + 1, group: nil)]))
                    sent.append(read)
                } catch {
                    // A read that can't be part of a batch is sent separately.
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
            // Whether the responses belong to these reads is known only at the end of the answer.
            var verdicts: [Int: BatchVerdict] = [:]
            while let (number, verdict) = try await exchange.next() { verdicts[number] = verdict }
            var repeats = BatchRepeats(client.configuration.retry)
            var replies: [Int: BatchReply] = [:]
            for case (let number, .reply(let reply)) in verdicts { replies[number] = reply }
            let refused = repeats.next(replies, now: client.currentDate)
            for (index, read) in sent.enumerated() where refused?.numbers.contains(index + 1) != true {
                guard let waiter = take(read.number) else { continue }
                let answering = BatchAnswering(client: client, identity: read.call.identity, scope: BatchScope())
                switch verdicts[index + 1] {
                case .reply(let reply)?, .groupFailed(let reply, _)?:
                    waiter.resume(returning: answering.response(reply, at: read.call.request.url))
                case .accepted(let reply)?: waiter.resume(throwing: answering.accepted(reply))
                case .notProcessed?: waiter.resume(throwing: answering.failure(.notProcessed))
                case .unanswered(let reason)?: waiter.resume(throwing: answering.failure(.unanswered(reason)))
                case .malformed(let reason)?: waiter.resume(throwing: answering.failure(.malformed(reason)))
                case nil: waiter.resume(throwing: answering.failure(.unanswered("the answer ended before it")))
                }
            }
            guard let refused else { return }
            // Reads that the service refused for the moment are sent separately, after the wait that it asks for.
            try await client.pause(for: refused.wait)
            for number in refused.numbers { take(sent[number - 1].number)?.resume(returning: nil) }
        } catch {
            for read in reads { take(read.number)?.resume(throwing: error) }
        }
    }

    private func isWaiting(_ number: Int) -> Bool { state.withLock { $0.waiters[number] != nil } }

    private func take(_ number: Int) -> Waiter? { state.withLock { $0.waiters.removeValue(forKey: number) } }
}
