import WebServiceClient

/// Answers that are given one after the other; the last one stays.
final class Turns<Answer: Sendable>: Sendable {
    private let answers: [Answer]
    private let given = Locked(0)

    init(_ answers: [Answer]) {
        self.answers = answers
    }

    /// The next answer; `nil` only when there is none at all.
    func nextIfAny() -> Answer? {
        given.withLock { given in
            defer { given = min(given + 1, answers.count) }
            return given < answers.count ? answers[given] : answers.last
        }
    }
}

extension Turns where Answer == LoopbackResponse {
    func next() -> LoopbackResponse {
        nextIfAny() ?? .text("The route's list of responses is empty\n", status: 500)
    }
}
