import Testing
import WebServiceClient

/// Lets no more than so many cases of a test run at once.
///
/// All cases are begun together otherwise, more than a hundred of them: the last one's turn comes so late that those which watch the time
/// see nothing but the machine.
struct TurnsTrait: TestTrait, TestScoping {
    private let turns: Turns

    init(_ count: Int) {
        turns = Turns(count)
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

/// Who may run, and who waits for it, first come first served.
private final class Turns: Sendable {
    private struct State: Sendable {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(free: count))
    }

    func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}
