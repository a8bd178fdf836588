import Foundation
package import WebServiceClient

/// An error for a body that didn't end in time.
struct Hung: Error {}

/// Runs a body, and fails the test if it hangs. Only failing tests get close to the limit.
package func watched<Value: Sendable>(
    within limit: Duration = .seconds(300), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let waiting = Locked<CheckedContinuation<Value, any Error>?>(nil)
    @Sendable func end(_ result: Result<Value, any Error>) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }
    return try await withCheckedThrowingContinuation { continuation in
        waiting.withLock { $0 = continuation }
        let watch = Task {
            try await Task.sleep(for: limit)
            end(.failure(Hung()))
        }
        Task {
            do {
                end(.success(try await body()))
            } catch {
                end(.failure(error))
            }
            watch.cancel()
        }
    }
}

/// Returns the code of the transport error that a body throws; `nil` if it doesn't throw.
package func failureCode(of body: @escaping @Sendable () async throws -> Void) async throws -> TransportError.Code? {
    do {
        try await watched(body)
        return nil
    } catch let error as TransportError {
        return error.code
    }
}

/// Returns the service error that a call throws; `nil` if it throws none.
package func serviceError(_ body: () async throws -> Void) async -> ServiceError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? ServiceError
    }
}
