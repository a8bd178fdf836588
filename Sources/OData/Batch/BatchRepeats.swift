import Foundation
import WebServiceClient

/// Decides by the client's ``/WebServiceClient/RetryPolicy`` whether reads that a service refused for the moment are sent again.
///
/// Services with limits answer single requests of a batch with 429 (Too Many Requests) or 503 (Service Unavailable). The response to the
/// batch itself is a success, so the retries of the batch request don't see these.
struct BatchRepeats: Sendable {
    private let policy: RetryPolicy
    private let random: @Sendable () -> Double
    private var failures = 0
    private var waited = Duration.zero

    init(_ policy: RetryPolicy, random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }) {
        (self.policy, self.random) = (policy, random)
    }

    /// Returns the requests to send again, and the wait before; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - replies: The responses to requests that may be sent again, by their numbers.
    ///   - now: The time at which they arrived.
    mutating func next(_ replies: [Int: BatchReply], now: Date) -> (numbers: [Int], wait: Duration)? {
        failures += 1
        guard failures < policy.attempts else { return nil }
        let own = policy.backoff.delay(afterFailures: failures, fraction: random())
        var numbers: [Int] = []
        var longest = Duration.zero
        for (number, reply) in replies.sorted(by: { $0.key < $1.key }) where reply.isFailure && reply.fault == nil {
            guard policy.covers(status: reply.status, headers: reply.headers, hasKey: false) else { continue }
            let asked = policy.askedWait(status: reply.status, headers: reply.headers, now: now)
            // A request that must wait for too long keeps its error.
            guard asked ?? .zero <= policy.longestWait else { continue }
            let wait = policy.backoff.delay(own, asked: asked, random: random)
            guard waited + wait <= policy.longestTotal else { continue }
            numbers.append(number)
            longest = max(longest, wait)
        }
        guard !numbers.isEmpty else { return nil }
        waited += longest
        return (numbers, longest)
    }
}

extension BatchPlan {
    /// Returns whether a request can be sent again in another batch: it reads, belongs to no group, and refers to no other request.
    func isRepeatable(_ number: Int) -> Bool {
        let request = items[number - 1].request
        return request.method == "GET" && request.group == nil && request.dependencies.isEmpty && request.groupDependencies.isEmpty
    }
}

extension ODataClient {
    /// Sends the reads of a plan again that the service refused for the moment, in further batches, and replaces their verdicts.
    ///
    /// Changes aren't sent again: the service may have begun them. If a further batch fails as a whole, the earlier verdicts remain.
    ///
    /// - Throws: `CancellationError`; `ServiceError` if the call was cancelled.
    func repeatReads(
        of plan: BatchPlan, _ form: BatchForm, _ headers: HTTPFields, _ verdicts: inout [Int: BatchVerdict]
    ) async throws {
        var repeats = BatchRepeats(configuration.retry)
        while true {
            var replies: [Int: BatchReply] = [:]
            for case (let number, .reply(let reply)) in verdicts where plan.isRepeatable(number) { replies[number] = reply }
            guard let (numbers, wait) = repeats.next(replies, now: currentDate) else { return }
            try await pause(for: wait)
            do {
                var rest = numbers[...]
                while !rest.isEmpty {
                    let some = Array(rest.prefix(batching.limit.map { max(1, $0) } ?? rest.count))
                    rest = rest.dropFirst(some.count)
                    for (number, verdict) in try await self.repeated(some, of: plan, form, headers) {
                        // A missing response doesn't change an earlier verdict.
                        if case .reply = verdict { verdicts[number] = verdict }
                    }
                }
            } catch let error as ServiceError where error.kind != .cancelled && !Task.isCancelled {
                return
            }
        }
    }

    /// Sends some reads of a plan as a batch.
    private func repeated(
        _ numbers: [Int], of plan: BatchPlan, _ form: BatchForm, _ headers: HTTPFields
    ) async throws -> [Int: BatchVerdict] {
        var writer = BatchWriter(isJSON: form.isJSON, statesLengths: form.statesLengths)
        var body = Data()
        for (index, number) in numbers.enumerated() {
            var request = plan.items[number - 1].request
            request.number = index + 1
            body.append(try writer.unit([request]))
        }
        body.append(writer.end())
        let matcher = BatchMatcher(numbers: 1...numbers.count, isJSON: form.isJSON, stops: false)
        let exchange = try await exchange(RequestBody(body), writer, headers, .proceed, isSafe: true, matcher)
        // The end of the answer may make an earlier verdict uncertain.
        var verdicts: [Int: BatchVerdict] = [:]
        while let (index, verdict) = try await exchange.next() {
            if numbers.indices.contains(index - 1) { verdicts[numbers[index - 1]] = verdict }
        }
        return verdicts
    }
}
