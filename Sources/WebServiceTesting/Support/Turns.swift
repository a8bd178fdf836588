import WebServiceClient

/// Answers that are given one after the other; the last one stays.
final class Turns<Answer: Sendable>: Sendable {
    private let answers: [Answer]
    private let given = Locked(0)

    init(_ answers: [Answer]) {
        self.answers = answers
    }

    /// The next answer; `nil` only when there is none at all.
    func next() -> Answer? {
        given.withLock { given in
            defer { given = min(given + 1, answers.count) }
            return given < answers.count ? answers[given] : answers.last
        }
    }
}
