import TestSupport
import Testing

/// Limits the number of a test's cases that run at once.
///
/// By default, all of more than a hundred cases start together. The last ones then wait so long that tests of timing measure only the
/// machine's load.
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
    /// Limits the number of the test's cases that run at once.
    static func atOnce(_ count: Int) -> Self { TurnsTrait(count) }
}
