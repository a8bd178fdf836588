import WebServiceClient

/// The error of a task that didn't end in time.
struct StillRunning: Error {}

/// Waits for a body, but not longer than the limit, even if it ignores cancellation.
func ending<Value: Sendable>(within limit: Duration, _ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let (results, feed) = AsyncStream<Result<Value, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let work = Task {
        do { feed.yield(.success(try await body())) } catch { feed.yield(.failure(error)) }
    }
    let watch = Task {
        try await Task.sleep(for: limit)
        feed.yield(.failure(StillRunning()))
    }
    defer {
        watch.cancel()
        work.cancel()
    }
    for await result in results { return try result.get() }
    throw CancellationError()
}

/// Waits until a condition holds, and returns whether it did within the limit.
func eventually(within limit: Duration, _ holds: () -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while !holds() {
        if ContinuousClock.now > end { return false }
        try await Task.sleep(for: .milliseconds(50))
    }
    return true
}
