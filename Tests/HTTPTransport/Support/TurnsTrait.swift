import TestSupport
import Testing

/// Lets no more than so many cases of a test run at once.
///
/// All cases are begun together otherwise, more than a hundred of them: the last one's turn comes so late that those which watch the time
/// see nothing but the machine.
struct TurnsTrait: TestTrait, TestScoping {
    private let turns: WaitingLine

    init(_ count: Int) {
        turns = WaitingLine(count)
    }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        await turns.begin()
        defer { turns.end() }
        try await function()
    }
}

extension Trait where Self == TurnsTrait {
    /// No more than so many of the test's cases at once.
    static func atOnce(_ count: Int) -> Self { TurnsTrait(count) }
}
