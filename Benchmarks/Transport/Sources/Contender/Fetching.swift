/// A contender's way to fetch.
struct Fetching: Sendable {
    /// Fetches a target, collects the body and returns its length.
    typealias Get = @Sendable (Target) async throws -> Int

    let get: Get
    /// The executor of the fetching tasks; `nil` for the default one.
    var executor: (any TaskExecutor)?
}
