import WebServiceClient

/// Ends a case that doesn't end by itself: with a failure, instead of hanging with it.
struct ConformanceWatch {
    /// Runs a body in a task of its own, and waits for its end or for the limit.
    func run(
        _ body: @escaping @Sendable (ConformanceSubject) async throws -> Void, on subject: ConformanceSubject, within limit: Duration,
        failure: @escaping @Sendable () -> TestingFailure
    ) async throws {
        let waiting = Locked<CheckedContinuation<Void, any Error>?>(nil)
        @Sendable func end(_ result: Result<Void, any Error>) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(with: result)
        }
        let tasks = Locked<[Task<Void, Never>]>([])
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                let work = Task {
                    do {
                        try await body(subject)
                        end(.success(()))
                    } catch {
                        end(.failure(error))
                    }
                    tasks.withLock { $0 }.last?.cancel()
                }
                let watch = Task {
                    guard (try? await Task.sleep(for: limit)) != nil else { return }
                    end(.failure(failure()))
                    work.cancel()
                }
                tasks.withLock { $0 = [work, watch] }
                // The work may have ended before the watch was known to it.
                if waiting.withLock({ $0 == nil }) || Task.isCancelled {
                    work.cancel()
                    watch.cancel()
                }
            }
        } onCancel: {
            for task in tasks.withLock({ $0 }) { task.cancel() }
            end(.failure(CancellationError()))
        }
    }
}
