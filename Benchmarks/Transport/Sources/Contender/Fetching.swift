/// How a contender fetches.
struct Fetching: Sendable {
    /// Gets a target, collects the body, and gives its length.
    typealias Get = @Sendable (Target) async throws -> Int

    let get: Get
    /// Where the tasks that fetch are run; `nil` where all others are.
    var executor: (any TaskExecutor)?
}
