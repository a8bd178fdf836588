import Foundation
import Testing
import WebServiceClient

@testable import OData

@Suite struct BatchMatcherTests {
    private func reply(_ id: Int? = nil, _ status: Int = 200) -> BatchReply { BatchReply(id: id.map { "\($0)" }, status: status) }

    /// The verdicts in the order of the requests, as short texts.
    private func verdicts(
        _ steps: [BatchAnswerStep], count: Int, groups: [ClosedRange<Int>] = [], isJSON: Bool = false, stops: Bool = false,
        cut: String? = nil
    ) -> [String] {
        var matcher = BatchMatcher(numbers: 1...count, groups: groups, isJSON: isJSON, stops: stops)
        var all: [Int: String] = [:]
        func take(_ found: [(number: Int, verdict: BatchVerdict)]) {
            for (number, verdict) in found {
                all[number] =
                    switch verdict {
                    case .reply(let reply): "\(reply.status)"
                    case .groupFailed(let reply, let number): "group \(reply.status) by \(number.map(String.init) ?? "?")"
                    case .notProcessed: "not processed"
                    case .unanswered: "unanswered"
                    case .malformed: "malformed"
                    case .accepted: "accepted"
                    }
            }
        }
        for step in steps { take(matcher.take(step)) }
        take(matcher.end(cut: cut))
        return (1...count).map { all[$0] ?? "nothing" }
    }

    @Test func `responses are matched by ids, or else by order`() {
        #expect(verdicts([.reply(reply(2, 404)), .reply(reply(1))], count: 2) == ["200", "404"])
        #expect(verdicts([.reply(reply()), .reply(reply(nil, 204))], count: 2) == ["200", "204"])
        #expect(verdicts([.reply(reply(2)), .reply(reply(nil, 204))], count: 3) == ["unanswered", "200", "204"])
        #expect(verdicts([.reply(reply(2)), .reply(reply(1))], count: 2, isJSON: true) == ["200", "200"])
        // JSON has no order.
        #expect(verdicts([.reply(reply()), .reply(reply(1))], count: 2, isJSON: true) == ["200", "unanswered"])
    }

    @Test func `wrong, repeated and surplus responses never count for another request`() {
        #expect(verdicts([.reply(reply(1)), .reply(reply(9))], count: 2) == ["200", "unanswered"])
        #expect(verdicts([.reply(reply(1)), .reply(reply(1, 404))], count: 2) == ["malformed", "unanswered"])
        #expect(verdicts([.reply(reply()), .reply(reply()), .reply(reply())], count: 2) == ["malformed", "malformed"])
        #expect(verdicts([.reply(reply(1)), .reply(reply()), .reply(reply())], count: 2) == ["200", "malformed"])
        #expect(verdicts([.reply(BatchReply(id: "x", status: 200))], count: 1) == ["unanswered"])
        #expect(verdicts([.reply(BatchReply(id: "1", fault: "f"))], count: 1) == ["malformed"])
        #expect(verdicts([.group([reply(), reply()], fault: nil)], count: 1) == ["malformed"])
        #expect(verdicts([.group([reply(1, 404)], fault: nil)], count: 1) == ["404"])
    }

    @Test func `a change set of one request has its own response, in either form`() {
        let groups = [1...1, 3...3]
        let own: [BatchAnswerStep] = [.reply(reply(nil, 404)), .reply(reply()), .group([reply(nil, 201)], fault: nil)]
        #expect(verdicts(own, count: 3, groups: groups) == ["404", "200", "201"])
        #expect(
            verdicts([.group([reply(1, 424)], fault: nil), .reply(reply(2))], count: 3, groups: groups) == ["424", "200", "unanswered"])
        #expect(
            verdicts([.group([], fault: nil), .reply(reply()), .reply(reply(3, 204))], count: 3, groups: groups)
                == ["unanswered", "200", "204"])
        #expect(verdicts([.group([reply(nil, 404)], fault: "cut")], count: 1, groups: [1...1]) == ["404"])
        #expect(verdicts([.group([reply(nil, 201)], fault: "cut")], count: 1, groups: [1...1]) == ["malformed"])
    }

    @Test func `a missing response means stopped only after a failure`() {
        #expect(verdicts([.reply(reply(1, 400))], count: 3) == ["400", "not processed", "not processed"])
        #expect(verdicts([.reply(reply(1))], count: 2) == ["200", "unanswered"])
        #expect(verdicts([], count: 2, cut: "cut") == ["unanswered", "unanswered"])
        #expect(verdicts([.reply(reply(1, 400))], count: 2, cut: "cut") == ["400", "unanswered"])
        #expect(verdicts([.reply(reply(2, 400))], count: 3, isJSON: true, stops: true) == ["not processed", "400", "not processed"])
        #expect(verdicts([.reply(reply(2, 400))], count: 2, isJSON: true) == ["unanswered", "400"])
        // A part of any kind after the failure shows that the service went on.
        let groups = [2...3]
        #expect(
            verdicts([.reply(reply(1, 400)), .group([reply(2, 201), reply(3, 201)], fault: nil)], count: 4, groups: groups)
                == ["400", "201", "201", "unanswered"])
        #expect(
            verdicts([.reply(reply(1, 400)), .group([reply(2, 201)], fault: "cut")], count: 4, groups: groups)
                == ["400", "malformed", "malformed", "unanswered"])
        #expect(
            verdicts([.reply(reply(1, 400)), .reply(reply(2, 201))], count: 4, groups: groups)
                == ["400", "unanswered", "unanswered", "unanswered"])
        #expect(verdicts([.reply(reply(1, 400)), .reply(reply(1, 400))], count: 2) == ["malformed", "unanswered"])
        #expect(verdicts([.reply(reply(3)), .reply(reply(1, 400))], count: 4) == ["400", "unanswered", "200", "not processed"])
    }

    @Test func `a response with a monitor is the end only if none follows`() {
        var accepted = reply(nil, 202)
        accepted.headers = ["Location": "https://h.example/monitor"]
        #expect(verdicts([.reply(reply(1)), .reply(accepted)], count: 3) == ["200", "accepted", "accepted"])
        #expect(verdicts([.reply(accepted), .reply(reply())], count: 2) == ["202", "200"])
        #expect(verdicts([.reply(accepted), .reply(accepted)], count: 3) == ["202", "accepted", "accepted"])
        #expect(
            verdicts([.reply(accepted), .group([reply(2), reply(3)], fault: nil)], count: 3, groups: [2...3]) == ["202", "200", "200"])
        #expect(verdicts([.reply(reply(1)), .reply(accepted)], count: 2, cut: "cut") == ["200", "unanswered"])
        accepted.id = "1"
        #expect(verdicts([.reply(accepted), .reply(reply(2))], count: 2) == ["202", "200"])
    }

    @Test func `without ids, too few responses are uncertain unless the answer stopped`() {
        #expect(verdicts([.reply(reply()), .reply(reply())], count: 3) == ["malformed", "malformed", "unanswered"])
        #expect(verdicts([.reply(reply()), .reply(reply(nil, 404))], count: 3) == ["200", "404", "not processed"])
        #expect(verdicts([.reply(reply()), .reply(reply())], count: 3, cut: "cut") == ["200", "200", "unanswered"])
        // Between two ids all are known, or none is.
        let steps: [BatchAnswerStep] = [.reply(reply()), .reply(reply(2)), .reply(reply()), .reply(reply(5))]
        #expect(verdicts(steps, count: 5) == ["200", "200", "malformed", "unanswered", "200"])
        #expect(
            verdicts([.group([reply(), reply()], fault: nil), .reply(reply())], count: 4, groups: [1...2])
                == ["malformed", "malformed", "malformed", "unanswered"])
        // Two responses to one request make all uncertain that have no id.
        #expect(verdicts([.reply(reply()), .reply(reply(1)), .reply(reply())], count: 2) == ["malformed", "malformed"])
    }

    @Test func `any number of surplus responses takes little memory`() {
        var matcher = BatchMatcher(numbers: 1...1, isJSON: true, stops: false)
        for number in 0..<1_000 {
            #expect(matcher.take(.reply(BatchReply(id: "stray \(number)", status: 200))).isEmpty)
        }
        #expect(matcher.progress == 0)
        var reason = ""
        if case .unanswered(let text)? = matcher.end().first?.verdict { reason = text }
        #expect(reason.contains("(1000)") && reason.contains("stray 2") && !reason.contains("stray 3"))
    }

    @Test func `one response may answer for a whole change set`() {
        let groups = [2...3]
        #expect(verdicts([.reply(reply(1)), .reply(reply(3, 400))], count: 3, groups: groups) == ["200", "group 400 by 3", "400"])
        #expect(
            verdicts([.reply(reply()), .reply(reply(nil, 400))], count: 3, groups: groups) == ["200", "group 400 by ?", "group 400 by ?"])
        #expect(
            verdicts([.reply(reply(1)), .group([reply(2, 400)], fault: nil)], count: 3, groups: groups) == ["200", "400", "group 400 by 2"])
        #expect(verdicts([.reply(reply()), .reply(reply())], count: 3, groups: groups) == ["200", "unanswered", "unanswered"])
        #expect(
            verdicts([.reply(reply(1)), .reply(reply(2, 500)), .reply(reply(4))], count: 4, groups: groups)
                == ["200", "500", "group 500 by 2", "200"])
    }

    @Test func `a change set succeeds as a whole or not at all`() {
        let groups = [1...2]
        #expect(verdicts([.group([reply(2, 204), reply(1, 201)], fault: nil)], count: 2, groups: groups) == ["201", "204"])
        #expect(verdicts([.group([reply(), reply(nil, 204)], fault: nil)], count: 2, groups: groups) == ["200", "204"])
        #expect(verdicts([.group([reply(1), reply(2, 412)], fault: nil)], count: 2, groups: groups) == ["group 412 by 2", "412"])
        #expect(verdicts([.group([reply(1, 201)], fault: "cut")], count: 2, groups: groups) == ["malformed", "malformed"])
        #expect(verdicts([.group([reply(1, 201)], fault: nil)], count: 2, groups: groups) == ["unanswered", "unanswered"])
        #expect(
            verdicts([.group([reply(1, 201), BatchReply(id: "2", fault: "f")], fault: nil)], count: 2, groups: groups)
                == ["malformed", "malformed"])
        #expect(
            verdicts([.group([reply(1, 409), BatchReply(id: "2", fault: "f")], fault: nil)], count: 2, groups: groups)
                == ["409", "group 409 by 1"])
        #expect(
            verdicts([.group([reply(1, 201), reply(2, 201), reply(2, 204)], fault: nil)], count: 2, groups: groups)
                == ["malformed", "malformed"])
        #expect(
            verdicts([.group([reply(1, 424), reply(2, 412)], fault: nil)], count: 2, groups: groups) == ["group 412 by 2", "412"])
        #expect(verdicts([.group([reply(nil, 201)], fault: nil)], count: 2, groups: groups) == ["unanswered", "unanswered"])
        #expect(verdicts([.group([], fault: nil)], count: 2, groups: groups) == ["unanswered", "unanswered"])
        #expect(verdicts([.group([reply(1)], fault: nil), .group([reply(1)], fault: nil)], count: 1, groups: [1...1]) == ["malformed"])
    }

    @Test func `in JSON a failed member fails its group, regardless of the other responses`() {
        let groups = [1...3]
        #expect(
            verdicts([.reply(reply(3)), .reply(reply(1, 409)), .reply(reply(2, 424))], count: 3, groups: groups, isJSON: true)
                == ["409", "group 409 by 1", "group 409 by 1"])
        #expect(
            verdicts([.reply(reply(3, 424)), .reply(reply(1, 424)), .reply(reply(2, 424))], count: 3, groups: groups, isJSON: true)
                == ["424", "group 424 by 1", "group 424 by 1"])
        #expect(
            verdicts([.reply(reply(3, 201)), .reply(reply(1, 201))], count: 3, groups: groups, isJSON: true)
                == ["unanswered", "unanswered", "unanswered"])
        #expect(
            verdicts([.reply(reply(1, 201)), .reply(BatchReply(id: "2", fault: "f"))], count: 2, groups: [1...2], isJSON: true)
                == ["malformed", "malformed"])
        // A response to a member tells that the service had begun its group.
        #expect(
            verdicts([.reply(reply(1, 400)), .reply(reply(2, 201))], count: 4, groups: [2...3], isJSON: true, stops: true)
                == ["400", "unanswered", "unanswered", "not processed"])
        #expect(
            verdicts([.reply(reply(1, 201)), .reply(reply(1, 201))], count: 2, groups: [1...2], isJSON: true)
                == ["malformed", "malformed"])
        #expect(
            verdicts([.reply(reply(3, 400)), .reply(reply(1, 201))], count: 3, groups: groups, isJSON: true)
                == ["group 400 by 3", "group 400 by 3", "400"])
        #expect(
            verdicts([.reply(reply(1)), .reply(reply(2)), .reply(reply(3))], count: 3, groups: groups, isJSON: true) == [
                "200", "200", "200",
            ])
    }
}
