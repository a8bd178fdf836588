import Foundation
import WebServiceClient

/// The outcome of one request of a batch, according to the answer.
enum BatchVerdict: Sendable, Equatable {
    /// The request's own response.
    case reply(BatchReply)
    /// The response of the request that failed the group, and the number of that request if the service identified it.
    case groupFailed(by: BatchReply, number: Int?)
    /// The service stopped before the request.
    case notProcessed
    /// No response, and the reason.
    case unanswered(String)
    /// A response that can't be read, and the reason.
    case malformed(String)
    /// The service continues asynchronously; the response is the one with its monitor.
    case accepted(BatchReply)

    /// Whether the service certainly performed the request.
    var isSuccess: Bool { if case .reply(let reply) = self { !reply.isFailure } else { false } }
}

/// Assigns the responses of a batch to its requests: by their ids, and without ids by their order, which multipart guarantees.
///
/// Requests have the numbers from 1 to ``count``. A group's requests are neighbors. The outcome of a group is known after its last
/// response: one failure is the failure of all, regardless of the other responses. Without a failure, a response that is missing or can't
/// be read makes the outcome of the whole group unknown.
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
    /// The number of responses that don't belong to any request, and the first three: an answer may have any number of them.
    private var strayCount = 0
    private var strays: [String] = []
    /// Whether a request has two responses.
    private var hasRepeats = false
    /// The last response, if it has no id, the status 202 and a monitor. At the end of the answer it means that the service continues
    /// asynchronously. If another response follows, it is the response to a request.
    private var held: BatchReply?
    /// A number that grows with each first response to a request, and is therefore bounded.
    private(set) var progress = 0

    /// - Parameters:
    ///   - numbers: The numbers of the requests; `nil` if there are none.
    ///   - groups: The ranges of the groups' numbers.
    ///   - stops: Whether the service stops at the first error.
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
        var verdicts: [(number: Int, verdict: BatchVerdict)] = []
        if let reply = held {
            held = nil
            verdicts = assign(.reply(reply))
        }
        if case .reply(let reply) = step, reply.isAccepted, reply.id == nil {
            held = reply
            return verdicts
        }
        return verdicts + assign(step)
    }

    /// Returns the verdicts on the requests without a response, at the end of the answer, and corrects verdicts that the end makes
    /// uncertain.
    ///
    /// - Parameter cut: The reason why the answer ended early; `nil` if it is complete.
    mutating func end(cut: String? = nil) -> [(number: Int, verdict: BatchVerdict)] {
        guard let numbers else { return [] }
        var verdicts: [(number: Int, verdict: BatchVerdict)] = []
        for (first, replies) in pending.sorted(by: { $0.key < $1.key }) {
            if let range = groups[first] { verdicts += settle(range, with: replies, cut: cut) }
        }
        pending = [:]
        verdicts += uncertain(numbers, isCut: cut != nil)
        let last = isDone.lastIndex(of: true).map { numbers.lowerBound + $0 } ?? 0
        let rest = numbers.filter { !done($0) }
        for number in rest {
            let verdict: BatchVerdict =
                if let cut {
                    .unanswered(cut)
                } else if let held {
                    .accepted(held)
                } else if let surplus {
                    .unanswered(surplus)
                } else if isJSON ? stops && hasFailure : endsWithFailure && number > last {
                    .notProcessed
                } else {
                    .unanswered(Self.missing(numbers.count - rest.count, of: "\(numbers.count)"))
                }
            verdicts += mark(number...number) { _ in verdict }
        }
        return verdicts
    }

    /// Returns new verdicts on requests whose responses had no id and may therefore belong to other requests.
    private func uncertain(_ numbers: ClosedRange<Int>, isCut: Bool) -> [(number: Int, verdict: BatchVerdict)] {
        // Without ids, only the order assigns responses to requests, and with surplus responses the order is meaningless.
        if let surplus {
            return numbers.filter { isByOrder[$0 - numbers.lowerBound] }.map { ($0, .malformed(surplus)) }
        }
        // If the answer stopped early, only responses after its last one are missing. Otherwise any response between two with an id may be.
        guard !isCut, held == nil, !endsWithFailure else { return [] }
        var verdicts: [(number: Int, verdict: BatchVerdict)] = []
        let reason = Self.missing(isDone.count(where: { $0 }), of: "\(numbers.count)") + ", and this one has no id"
        let spans = numbers.split { done($0) && !isByOrder[$0 - numbers.lowerBound] }
        for span in spans where !span.allSatisfy({ done($0) }) {
            for number in span where done(number) { verdicts.append((number, .malformed(reason))) }
        }
        return verdicts
    }

    private static func missing(_ count: Int, of requests: String) -> String {
        "the service sent \(count) responses to \(requests) requests"
    }

    /// The description of surplus responses; `nil` if there are none.
    private var surplus: String? {
        if strayCount > 0 { return "the answer has surplus responses (\(strayCount)): \(strays.joined(separator: ", "))" }
        return hasRepeats ? "the answer has two responses to one request" : nil
    }

    private mutating func addStray(_ text: @autoclosure () -> String) {
        strayCount += 1
        if strays.count < 3 { strays.append(text()) }
    }

    // MARK: Responses

    private mutating func assign(_ step: BatchAnswerStep) -> [(number: Int, verdict: BatchVerdict)] {
        endsWithFailure = false
        return switch step {
        case .reply(let reply): assign(reply)
        case .group(let replies, let fault): assign(replies, fault: fault)
        }
    }

    private mutating func assign(_ reply: BatchReply) -> [(number: Int, verdict: BatchVerdict)] {
        guard let number = place(of: reply) else { return [] }
        guard let first = firstOfGroup[number], let range = groups[first] else { return settle(number, with: reply) }
        if isJSON {
            guard !done(number), pending[first]?[number] == nil else {
                pending[first] = nil
                return repeated(range)
            }
            pending[first, default: [:]][number] = reply
            progress += 1
            hasFailure = hasFailure || reply.isFailure
            guard let replies = pending[first], replies.count == range.count else { return [] }
            pending[first] = nil
            return settle(range, with: replies)
        }
        // One response to a whole change set: the change set failed, or has only one request.
        cursor = range.upperBound + 1
        guard !done(range) else { return repeated(range) }
        if range.count == 1 { return settle(range.lowerBound, with: reply) }
        if let fault = reply.fault { return mark(range) { _ in .malformed(fault) } }
        guard reply.isFailure else {
            return mark(range) { _ in .unanswered(Self.missing(1, of: "a group of \(range.count)")) }
        }
        let known = reply.id.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
        return failure(of: range, by: reply, number: known, own: known.map { [$0: reply] } ?? [:])
    }

    private mutating func assign(_ replies: [BatchReply], fault: String?) -> [(number: Int, verdict: BatchVerdict)] {
        let known = replies.compactMap { reply in reply.id.flatMap { number(named: $0) } }.first
        guard let number = known ?? (cursorIsInside ? cursor : nil) else {
            addStray("a change set")
            return []
        }
        guard let first = firstOfGroup[number], let range = groups[first] else {
            // A change set in answer to a single request.
            if fault == nil, replies.count == 1 { return assign(replies[0]) }
            cursor = number + 1
            guard !done(number) else { return repeated(number...number) }
            return mark(number...number) { _ in .malformed(fault ?? "the service sent a change set of \(replies.count) responses") }
        }
        cursor = range.upperBound + 1
        guard !done(range) else { return repeated(range) }
        if known == nil, let numbers { for number in range { isByOrder[number - numbers.lowerBound] = true } }
        var own: [Int: BatchReply] = [:]
        var unnamed: [BatchReply] = []
        var isRepeated = false
        for reply in replies {
            guard let id = reply.id else {
                unnamed.append(reply)
                continue
            }
            guard let number = Int(id), range.contains(number) else {
                addStray("Content-ID \(BatchMessage.shown(id))")
                continue
            }
            isRepeated = isRepeated || own[number] != nil
            own[number] = own[number] ?? reply
        }
        let failed = replies.first { $0.isFailure && $0.status != 424 } ?? replies.first { $0.isFailure }
        let missing = range.filter { own[$0] == nil }
        // The order assigns responses to requests only if no response is missing.
        if unnamed.count == missing.count { for (number, reply) in zip(missing, unnamed) { own[number] = reply } }
        if unnamed.count > missing.count { addStray("one without an id in a change set") }
        if let failed {
            return failure(of: range, by: failed, number: own.first { $0.value == failed }?.key, own: own)
        }
        if isRepeated { return repeated(range) }
        if let fault { return mark(range) { _ in .malformed(fault) } }
        return success(of: range, with: own, count: replies.count)
    }

    /// Returns the number of the request that a response belongs to.
    private mutating func place(of reply: BatchReply) -> Int? {
        if let id = reply.id {
            guard let number = number(named: id) else {
                addStray("id \(BatchMessage.shown(id))")
                return nil
            }
            if firstOfGroup[number] == nil { cursor = number + 1 }
            return number
        }
        guard !isJSON, cursorIsInside, let numbers else {
            addStray("one without an id")
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

    /// Returns the verdicts on a JSON group from the responses to its members.
    ///
    /// - Parameter cut: The reason why responses are missing, if the answer ended early.
    private mutating func settle(
        _ range: ClosedRange<Int>, with replies: [Int: BatchReply], cut: String? = nil
    ) -> [(number: Int, verdict: BatchVerdict)] {
        // A member that wasn't tried (424) doesn't give the reason for the group's failure; prefer one that does.
        let failures = replies.filter { $0.value.isFailure }.sorted { $0.key < $1.key }
        guard let failed = failures.first(where: { $0.value.status != 424 }) ?? failures.first else {
            return success(of: range, with: replies, count: replies.count, cut: cut)
        }
        return failure(of: range, by: failed.value, number: failed.key, own: replies)
    }

    /// Returns the verdicts on a group without a failure: success only if all its responses can be read, otherwise unknown.
    private mutating func success(
        of range: ClosedRange<Int>, with own: [Int: BatchReply], count: Int, cut: String? = nil
    ) -> [(number: Int, verdict: BatchVerdict)] {
        guard range.allSatisfy({ own[$0] != nil }) else {
            return mark(range) { _ in .unanswered(cut ?? Self.missing(count, of: "a group of \(range.count)")) }
        }
        guard let fault = range.lazy.compactMap({ own[$0]?.fault }).first else {
            return mark(range) { number in own[number].map { .reply($0) } ?? .unanswered("its group has no response to it") }
        }
        return mark(range) { number in .malformed(own[number]?.fault ?? "another response of its group can't be read: \(fault)") }
    }

    /// Returns the verdicts on a failed group: each request has its own error, or the error of the request that failed.
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
            if !done(number) { progress += 1 }
            isDone[number - numbers.lowerBound] = true
            return (number, verdict(number))
        }
    }

    /// Returns the verdicts on a request with two responses: neither response is certain.
    private mutating func repeated(_ range: ClosedRange<Int>) -> [(number: Int, verdict: BatchVerdict)] {
        hasRepeats = true
        return mark(range) { _ in .malformed("the service sent two responses to it") }
    }
}
