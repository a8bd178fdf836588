import Foundation
import ODataMetadata
import WebServiceClient

/// How current a client's model of its service must be: ``ODataClient/model(_:options:)``.
public enum ModelFreshness: Sendable, Hashable {
    /// The client's own model is returned if it has one, without a request.
    case cached
    /// The service is asked whether its document has changed, with the entity tag of the model that the client has.
    case revalidated
}

/// The models of a client's service, with the validators that show whether they are current.
///
/// One fetch of a document runs at a time, in a separate task, and all calls wait for it, so that no call's cancellation ends it while
/// others wait. If no call waits any more, it is cancelled.
final class ModelCache: Sendable {
    /// A model and the version of its document.
    struct Entry: Sendable {
        let model: ServiceModel
        /// The `ETag` of the document, or else its `Last-Modified`.
        let etag: String?
        let lastModified: String?
    }

    private struct State {
        /// Entries by the URL of the document.
        var entries: [String: Entry] = [:]
        var fetches: [String: ModelFetch] = [:]
    }

    private let state = Locked(State())

    /// Returns the model of a document's URL: the known one, or the result of a fetch that is running or begins.
    ///
    /// - Parameters:
    ///   - freshness: Whether a known model is returned without a fetch.
    ///   - fetch: Fetches and reads the document if it has changed since the known entry; otherwise returns that.
    func model(
        of url: String, _ freshness: ModelFreshness, fetch: @escaping @Sendable (Entry?) async throws -> Entry
    ) async throws -> ServiceModel {
        enum Step {
            case known(ServiceModel)
            case wait(ModelFetch, number: Int)
            case begin(ModelFetch, number: Int, Entry?)
        }
        let step: Step = state.withLock { state in
            let known = state.entries[url]
            if let known, freshness == .cached { return .known(known.model) }
            if let running = state.fetches[url], let number = running.join() { return .wait(running, number: number) }
            let made = ModelFetch()
            state.fetches[url] = made
            // A new fetch takes its first call.
            return .begin(made, number: made.join() ?? 0, known)
        }
        switch step {
        case .known(let model): return model
        case .wait(let running, let number): return try await running.result(number)
        case .begin(let running, let number, let known):
            running.begin {
                try await fetch(known)
            } finally: { result in
                self.state.withLock { state in
                    if case .success(let entry) = result { state.entries[url] = entry }
                    if state.fetches[url] === running { state.fetches[url] = nil }
                }
            }
            return try await running.result(number)
        }
    }
}

/// A fetch of a model that several calls wait for.
private final class ModelFetch: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var result: Result<ServiceModel, any Error>?
        /// The calls that wait; without a continuation until they are suspended.
        var waiting: [Int: CheckedContinuation<ServiceModel, any Error>?] = [:]
        var count = 0
        /// Whether the fetch was cancelled because no call waits for it any more.
        var isAbandoned = false
    }

    private let state = Locked(State())

    /// Adds a call and returns its number, or `nil` if the fetch was abandoned.
    func join() -> Int? {
        state.withLock { state in
            guard !state.isAbandoned else { return nil }
            state.count += 1
            state.waiting.updateValue(nil, forKey: state.count)
            return state.count
        }
    }

    func begin(
        _ fetch: @escaping @Sendable () async throws -> ModelCache.Entry,
        finally: @escaping @Sendable (Result<ModelCache.Entry, any Error>) -> Void
    ) {
        let task = Task {
            let result: Result<ModelCache.Entry, any Error>
            do {
                result = .success(try await fetch())
            } catch {
                result = .failure(error)
            }
            finally(result)
            end(result.map(\.model))
        }
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    private func end(_ result: Result<ServiceModel, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = [:] }
            return state.waiting.values.compactMap(\.self)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Waits for the result.
    ///
    /// - Throws: The error of the fetch, or `CancellationError` when the task was cancelled.
    func result(_ number: Int) async throws -> ServiceModel {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<ServiceModel, any Error>? = state.withLock { state in
                    if let result = state.result { return result }
                    // The cancellation may have come first.
                    guard state.waiting.keys.contains(number) else { return .failure(CancellationError()) }
                    state.waiting.updateValue(continuation, forKey: number)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Removes a call that is cancelled. If it was the last one, the fetch is cancelled, too.
    private func leave(_ number: Int) {
        let (continuation, task) = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: number) ?? nil
            guard state.waiting.isEmpty, state.result == nil else { return (continuation, Task<Void, Never>?.none) }
            state.isAbandoned = true
            return (continuation, state.task)
        }
        continuation?.resume(throwing: CancellationError())
        task?.cancel()
    }
}
