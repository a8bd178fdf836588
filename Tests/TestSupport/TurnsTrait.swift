package import Testing

/// Limits how many cases of a test run at once.
///
/// Otherwise, all cases begin together, and on a small machine the last ones wait so long that their deadlines pass.
package struct TurnsTrait: TestTrait, TestScoping {
    private let turns: WaitingLine

    init(_ count: Int) {
        turns = WaitingLine(count)
    }

    package func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        await turns.begin()
        defer { turns.end() }
        try await function()
    }
}

extension Trait where Self == TurnsTrait {
    /// At most this many of the test's cases at once.
    package static func atOnce(_ count: Int) -> Self { TurnsTrait(count) }
}
