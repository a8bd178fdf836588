import Foundation
import WebServiceClient

/// What the answer to a batch says about one of its requests.
enum BatchVerdict: Sendable, Equatable {
    /// The request's own response.
    case reply(BatchReply)
    /// The response of the request that failed the group, and its number if the service told it.
    case groupFailed(by: BatchReply, number: Int?)
    /// The service stopped before the request.
    case notProcessed
    /// No response, and the reason.
    case unanswered(String)
    /// A response that can't be read, and the reason.
    case malformed(String)
    /// The service continues asynchronously; the response is the one with its monitor.
    case accepted(BatchReply)
}

/// Assigns the responses of a batch to its requests: by their ids, and without ids by their order, which multipart guarantees.
///
/// Requests have the numbers from 1 to ``count``. A group's requests are neighbours. Its outcome is known when its last response is, since
/// one failure is the failure of all, whatever the other responses say.
struct BatchMatcher {
    /// The requests of the batch: numbers from the first to the last.
    private let numbers: ClosedRange<Int>?
    /// The ranges of the groups, by their first number.
    private let groups: [Int: ClosedRange<Int>]
    /// The first number of a member's group.
    private let firstOfGroup: [Int: Int]
    private let isJSON: Bool
    /// Whether the service was asked to stop at the first error, or does so by default.
    private let stops: Bool

    /// The requests with a verdict, from the first number on, and those whose responses had no id.
    private var isDone: [Bool]
    private var isByOrder: [Bool]
    /// The responses of incomplete groups in JSON, by the group's first number.
    private var pending: [Int: [Int: BatchReply]] = [:]
    /// The number that a response without an id belongs to.
    private var cursor: Int
    /// Whether the last response was a failure.
    private var endsWithFailure = false
    private var hasFailure = false
    /// What doesn't belong to any request.
    private var strays: [String] = []
    private var accepted: BatchReply?

    /// - Parameters:
    ///   - numbers: the numbers of the requests; `nil` if there are none.
    ///   - groups: the ranges of the groups' numbers.
    ///   - stops: whether the service stops at the first error.
    init(numbers: ClosedRange<Int>?, groups: [ClosedRange<Int>] = [], isJSON: Bool, stops: Bool) {
        self.numbers = numbers
        self.groups = Dictionary(groups.map { ($0.lowerBound, $0) }, uniquingKeysWith: { first, _ in first })
        var firsts: [Int: Int] = [:]
        for range in groups { for number in range { firsts[number] = range.lowerBound } }
        firstOfGroup = firsts
        self.isJSON = isJSON
        self.stops = stops
        isDone = Array(repeating: false, count: numbers?.count ?? 0)
        isByOrder = isDone
        cursor = numbers?.lowerBound ?? 1
    }

    /// The number of requests.
    var count: Int { isDone.count }

    /// Returns the verdicts that follow from a step of the answer.
    mutating func take(_ step: BatchAnswerStep) -> [(number: Int, verdict: BatchVerdict)] {
        switch step {
        case .reply(let reply): take(reply)
        case .group(let replies, let fault): take(replies, fault: fault)
        }
    }

    /// Returns the verdicts on the requests without a response, at the end of the answer.
    ///
    /// - Parameter cut: why the answer ended early; `nil` if it is complete.
    mutating func end(cut: String? = nil) -> [(number: Int, verdict: BatchVerdict)] {
        guard let numbers else { return [] }
        var verdicts: [(number: Int, verdict: BatchVerdict)] = []
        // Without ids only the order tells to which requests the responses belong, and it doesn't if there are too many.
        if !strays.isEmpty {
            for number in numbers where isByOrder[number - numbers.lowerBound] {
                verdicts.append((number, .malformed(stray)))
            }
        }
        for (first, replies) in pending.sorted(by: { $0.key < $1.key }) {
            guard let range = groups[first] else { continue }
            if let failed = replies.first(where: { $0.value.isFailure }) {
                verdicts += failure(of: range, by: failed.value, number: failed.key, own: replies)
            }
        }
        pending = [:]
        let rest = numbers.filter { !isDone[$0 - numbers.lowerBound] }
        for number in rest {
            let verdict: BatchVerdict =
                if let cut {
                    .unanswered(cut)
                } else if let accepted {
                    .accepted(accepted)
                } else if !strays.isEmpty {
                    .unanswered(stray)
                } else if isJSON ? stops && hasFailure : endsWithFailure && number >= cursor {
                    .notProcessed
                } else {
                    .unanswered("the service sent \(numbers.count - rest.count) responses to \(numbers.count) requests")
                }
            verdicts.append((number, verdict))
            isDone[number - numbers.lowerBound] = true
        }
        return verdicts
    }

    private var stray: String {
        "the answer has responses that belong to no request: \(strays.prefix(3).joined(separator: ", "))"
    }

    // MARK: Responses

    private mutating func take(_ reply: BatchReply) -> [(number: Int, verdict: BatchVerdict)] {
        if reply.isAccepted, reply.id == nil {
            accepted = reply
            return []
        }
        guard let number = place(of: reply) else { return [] }
        guard let first = firstOfGroup[number], let range = groups[first] else { return settle(number, with: reply) }
        if isJSON {
            guard !done(number), pending[first]?[number] == nil else { return repeated(range) }
            pending[first, default: [:]][number] = reply
            hasFailure = hasFailure || reply.isFailure
            guard let replies = pending[first], replies.count == range.count else { return [] }
            pending[first] = nil
            return settle(range, with: replies)
        }
        // One response for a whole change set: it failed, or has only one request.
        cursor = range.upperBound + 1
        guard !done(range) else { return repeated(range) }
        if range.count == 1 { return settle(range.lowerBound, with: reply) }
        if let fault = reply.fault { return mark(range) { _ in .malformed(fault) } }
        guard reply.isFailure else {
            return mark(range) { _ in .unanswered("the service sent one response to a group of \(range.count) requests") }
        }
        let known = reply.id.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
        return failure(of: range, by: reply, number: known, own: known.map { [$0: reply] } ?? [:])
    }

    private mutating func take(_ replies: [BatchReply], fault: String?) -> [(number: Int, verdict: BatchVerdict)] {
        let known = replies.compactMap { reply in reply.id.flatMap { number(named: $0) } }.first
        guard let number = known ?? (cursorIsInside ? cursor : nil) else {
            strays.append("a change set")
            return []
        }
        guard let first = firstOfGroup[number], let range = groups[first] else {
            // A change set in answer to a request of its own.
            if fault == nil, replies.count == 1 { return take(replies[0]) }
            cursor = number + 1
            guard !done(number) else { return repeated(number...number) }
            return mark(number...number) { _ in .malformed(fault ?? "the service sent a change set of \(replies.count) responses") }
        }
        cursor = range.upperBound + 1
        guard !done(range) else { return repeated(range) }
        if known == nil, let numbers { for number in range { isByOrder[number - numbers.lowerBound] = true } }
        var own: [Int: BatchReply] = [:]
        var unnamed: [BatchReply] = []
        for reply in replies {
            guard let id = reply.id else {
                unnamed.append(reply)
                continue
            }
            guard let number = Int(id), range.contains(number), own[number] == nil else {
                strays.append("Content-ID \(BatchMessage.shown(id))")
                continue
            }
            own[number] = reply
        }
        let failed = replies.first { $0.isFailure }
        let missing = range.filter { own[$0] == nil }
        // The order tells which request is meant only if all have a response.
        if unnamed.count == missing.count { for (number, reply) in zip(missing, unnamed) { own[number] = reply } }
        if let failed {
            return failure(of: range, by: failed, number: own.first { $0.value == failed }?.key, own: own)
        }
        if let fault { return mark(range) { _ in .malformed(fault) } }
        endsWithFailure = false
        let count = replies.count
        return mark(range) { number in
            own[number].map(Self.verdict) ?? .unanswered("the service sent \(count) responses to a group of \(range.count) requests")
        }
    }

    /// Returns the number of the request that a response belongs to.
    private mutating func place(of reply: BatchReply) -> Int? {
        if let id = reply.id {
            guard let number = number(named: id) else {
                strays.append("id \(BatchMessage.shown(id))")
                return nil
            }
            if firstOfGroup[number] == nil { cursor = number + 1 }
            return number
        }
        guard !isJSON, cursorIsInside, let numbers else {
            strays.append("one without an id")
            return nil
        }
        for number in firstOfGroup[cursor].flatMap({ groups[$0] }) ?? cursor...cursor { isByOrder[number - numbers.lowerBound] = true }
        defer { cursor += 1 }
        return cursor
    }

    /// Graph compares ids without their case, and numbers have none.
    private func number(named id: String) -> Int? {
        guard let number = Int(id), let numbers, numbers.contains(number) else { return nil }
        return number
    }

    private var cursorIsInside: Bool { numbers?.contains(cursor) ?? false }

    // MARK: Verdicts

    private static func verdict(_ reply: BatchReply) -> BatchVerdict { reply.fault.map { .malformed($0) } ?? .reply(reply) }

    private func done(_ number: Int) -> Bool { numbers.map { isDone[number - $0.lowerBound] } ?? true }
    private func done(_ range: ClosedRange<Int>) -> Bool { range.contains { done($0) } }

    private mutating func settle(_ number: Int, with reply: BatchReply) -> [(number: Int, verdict: BatchVerdict)] {
        guard !done(number) else { return repeated(number...number) }
        endsWithFailure = reply.isFailure
        hasFailure = hasFailure || reply.isFailure
        return mark(number...number) { _ in Self.verdict(reply) }
    }

    /// The responses to all members of a group in JSON.
    private mutating func settle(_ range: ClosedRange<Int>, with replies: [Int: BatchReply]) -> [(number: Int, verdict: BatchVerdict)] {
        // A member that wasn't tried (424) doesn't tell why the group failed, if another one does.
        let failures = replies.filter { $0.value.isFailure }.sorted { $0.key < $1.key }
        guard let failed = failures.first(where: { $0.value.status != 424 }) ?? failures.first else {
            return mark(range) { number in replies[number].map(Self.verdict) ?? .unanswered("its group has no response to it") }
        }
        return failure(of: range, by: failed.value, number: failed.key, own: replies)
    }

    /// The failure of a group: its requests have their own error, or that of the request that failed.
    private mutating func failure(
        of range: ClosedRange<Int>, by failed: BatchReply, number: Int?, own: [Int: BatchReply]
    ) -> [(number: Int, verdict: BatchVerdict)] {
        endsWithFailure = true
        hasFailure = true
        return mark(range) { member in
            if let reply = own[member], reply.isFailure, reply.status != 424 || member == number { return .reply(reply) }
            return .groupFailed(by: failed, number: number)
        }
    }

    private mutating func mark(
        _ range: ClosedRange<Int>, _ verdict: (Int) -> BatchVerdict
    ) -> [(number: Int, verdict: BatchVerdict)] {
        guard let numbers else { return [] }
        return range.map { number in
            isDone[number - numbers.lowerBound] = true
            return (number, verdict(number))
        }
    }

    /// Two responses to one request: neither is certain.
    private mutating func repeated(_ range: ClosedRange<Int>) -> [(number: Int, verdict: BatchVerdict)] {
        mark(range) { _ in .malformed("the service sent two responses to it") }
    }
}
