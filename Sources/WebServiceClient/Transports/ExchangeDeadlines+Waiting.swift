extension ExchangeDeadlines {
    /// Does work before whose end there is no head of a response, and ends it when the time for waiting has passed.
    ///
    /// - Parameters:
    ///   - host: Where the request goes, for the error.
    ///   - lastSent: When something of the request's body last went on its way: the time counts from there.
    ///   - work: What is to be done. Its task is cancelled when the time has passed, and waited for.
    /// - Throws: What the work throws; ``TransportError`` when the time has passed.
    func whileWaiting<Result: Sendable>(
        for host: String, lastSent: @escaping @Sendable () -> MonotonicInstant?, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let first = dueWhileWaiting() else { return try await work() }
        guard first.instant > .now else { throw error(first.code, host: host) }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await work() }
            group.addTask {
                var due = first
                while true {
                    try await due.instant.sleep()
                    due = dueWhileWaiting(lastSent: lastSent()) ?? due
                    guard due.instant > .now else { throw error(due.code, host: host) }
                }
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
