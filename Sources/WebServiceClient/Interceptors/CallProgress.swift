/// How far a call has come, shared by all copies of its context: interceptors outside retries and redirects read here, after the call,
/// what the stages inside did with copies of their own.
package final class CallProgress: Sendable {
    private let counts = Locked((repeats: 0, redirects: 0))

    package init() {}

    /// How often the call was repeated after a failure.
    package var repeats: Int { counts.withLock { $0.repeats } }

    /// How many redirects were followed, in all attempts together.
    package var redirects: Int { counts.withLock { $0.redirects } }

    func countRepeat() {
        counts.withLock { $0.repeats += 1 }
    }

    func countRedirect() {
        counts.withLock { $0.redirects += 1 }
    }
}
