import Foundation
public import HTTPTransport

/// A call that was started and runs by itself, for programs that need more than `await`: they cancel it with a reason, restart it, follow
/// its progress, or wait for it without a task.
///
///     let call = github.start { try await $0.repository(owner: "swiftlang", name: "swift") }
///     call.cancel(reason: "The window was closed.")
///     let repository = try await call.value
///
/// A value that refers to the call: copies refer to the same one, and any number of tasks may use them. The call continues when the last
/// copy is released; it ends by itself, or with ``WebServiceClient/WebServiceClient/cancelAll(reason:)`` and
/// ``WebServiceClient/WebServiceClient/shutdown(within:)``. The client is retained until then.
public struct Call<Value: Sendable>: Sendable {
    let core: CallCore<Value>

    // MARK: Result

    /// The call's value. If the call is restarted before it ends, the value of the restarted call.
    ///
    /// - Throws: The call's error: ``ServiceError``, of the kind `cancelled` if the call was cancelled. `CancellationError` if the reader's
    ///   task is cancelled; the call then continues.
    public var value: Value {
        get async throws { try await core.result().get() }
    }

    /// The call's value or error, like ``value``.
    public var result: Result<Value, any Error> {
        get async { await core.result() }
    }

    /// The value or error if the call has ended; otherwise `nil`.
    public var resultSoFar: Result<Value, any Error>? { core.current.result }

    /// Blocks the thread until the call ends, for command-line tools and tests.
    ///
    /// The threads of the task pool and of transports must not be blocked: the call may need them, and would never end. If the call's
    /// closure needs the main actor, the main thread must not be blocked either, which this function can't know.
    ///
    /// - Parameter timeout: The longest time to wait; `nil` for no limit. Afterwards, the call continues.
    /// - Throws: The call's error; ``CallWaitError`` within a task, on a transport's thread, and after the timeout.
    @discardableResult
    public func wait(timeout: Duration? = nil) throws -> Value {
        guard withUnsafeCurrentTask(body: { $0 == nil }) else { throw CallWaitError(reason: .isTask) }
        guard !TransportThread.isCurrent else { throw CallWaitError(reason: .isTransportThread) }
        return try core.wait(timeout)
    }

    // MARK: Control

    /// Cancels the call: it ends at once with a ``ServiceError`` of the kind `cancelled`, whose cause is ``CallCancelled`` with this
    /// reason.
    ///
    /// - Parameters:
    ///   - reason: A sentence for errors and logs.
    ///   - silently: Whether the closures of ``onCompletion(on:_:)`` aren't called. Readers of ``value`` get the error in any case.
    /// - Returns: Whether this cancelled the call; `false` if it had ended.
    @discardableResult
    public func cancel(reason: String, silently: Bool = false) -> Bool {
        core.cancel(CallCancelled(reason: reason), silently: silently)
    }

    /// Starts the call again, whether it has ended or not. A running attempt is cancelled, and whatever still comes from it is ignored.
    /// Readers that wait for the value get that of the restarted call, and closures are called when it ends. The restarted call has the
    /// attributes and the trace of the task that started the call first.
    public func restart() { core.restart() }

    // MARK: Progress

    /// The progress of the call: whether it is waiting, running, cancelled or finished.
    public var state: CallState { core.current.state }

    /// The last request that was sent, without credentials; `nil` before the first.
    public var request: ServiceRequest? { core.current.run.last?.request }

    /// The head of the last response; `nil` before it has arrived. Its body isn't included.
    public var response: ResponseSummary? {
        guard let record = core.current.run.last, let exchange = record.exchange, let answer = exchange.answer else { return nil }
        return ResponseSummary(
            status: answer.status, headers: answer.headers, url: answer.url, body: .init(), isCut: true,
            secrets: record.secrets(adding: exchange.request.secrets))
    }

    /// The number of attempts so far, including retries and restarts.
    public var attempts: Int { core.current.attempts }

    /// The progress of the upload: a new sequence for each reader, which begins with the present state and ends with the call. A slow
    /// reader misses states but not the last one. The progress never decreases over all attempts; only a restart begins at zero again.
    public var uploadProgress: AsyncStream<TransferProgress> { core.progress(.upload) }

    /// The progress of the download, like ``uploadProgress``.
    public var downloadProgress: AsyncStream<TransferProgress> { core.progress(.download) }

    // MARK: Closures

    /// Calls a closure with the result when the call has ended; at once if it has ended. After a restart the closure is called again.
    ///
    /// - Parameters:
    ///   - executor: Where the closure runs.
    ///   - action: Called exactly once for each end of the call, after all progress closures.
    @discardableResult
    public func onCompletion(
        on executor: CallbackExecutor, _ action: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Self {
        core.observe { result in await executor.run { action(result) } }
        return self
    }

    /// Calls a closure on the main actor with the result when the call has ended, like ``onCompletion(on:_:)``.
    @discardableResult
    public func onCompletion(_ action: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void) -> Self {
        core.observe { result in await action(result) }
        return self
    }

    /// Calls a closure with the progress of the upload, in order, one at a time. While a closure runs, only the newest progress waits.
    @discardableResult
    public func onUploadProgress(
        on executor: CallbackExecutor, _ action: @escaping @Sendable (TransferProgress) -> Void
    ) -> Self {
        core.observe(.upload) { progress in await executor.run { action(progress) } }
        return self
    }

    /// Calls a closure with the progress of the download, like ``onUploadProgress(on:_:)``.
    @discardableResult
    public func onDownloadProgress(
        on executor: CallbackExecutor, _ action: @escaping @Sendable (TransferProgress) -> Void
    ) -> Self {
        core.observe(.download) { progress in await executor.run { action(progress) } }
        return self
    }
}

extension Call: CustomStringConvertible {
    /// The endpoint, the state and the number of attempts.
    public var description: String {
        let current = core.current
        return "\(current.run.last?.identity.description ?? core.clientName): \(current.state.rawValue), \(current.attempts) attempts"
    }
}

/// The error of a thread that can't wait for a call.
public struct CallWaitError: DescribedError, Sendable, Hashable {
    /// The reasons.
    public enum Reason: String, Sendable, Hashable {
        /// The code runs within a task, whose thread other tasks need.
        case isTask
        /// The code runs on the thread of a transport, which the call needs.
        case isTransportThread
        /// The time to wait is over.
        case timedOut
    }

    /// The reason.
    public let reason: Reason

    /// What happened and how to fix it.
    public var description: String {
        switch reason {
        case .isTask: "wait() would block a thread that the call may need, because it is called within a task: write try await call.value."
        case .isTransportThread:
            "wait() would block the transport's thread, which the call may need: wait on another thread, or use onCompletion(on:_:)."
        case .timedOut: "The call didn't end within the time to wait. It continues: cancel it if it isn't needed any more."
        }
    }
}

extension ServiceClient {
    /// Starts a call in a separate task, and returns its handle.
    ///
    ///     let call = github.start { try await $0.repository(owner: "swiftlang", name: "swift") }
    ///
    /// The closure makes one call of this client, and may process its value. If it makes several, the handle cancels all of them, and
    /// describes the last one. Calls of other clients and of detached tasks, and those that interceptors and authentication providers make,
    /// end with the task's cancellation.
    ///
    /// - Parameter body: Makes the call; once for each start.
    public func start<Value: Sendable>(_ body: @escaping @Sendable (Self) async throws -> Value) -> Call<Value> {
        Call(core: CallCore(self, { try await body(self) }))
    }
}

extension ServiceCall {
    /// Starts the call in a separate task, and returns its handle.
    ///
    ///     let call = client.http.get("/users/%%0%%", id).start(User.self)
    public func start<Value: Decodable & Sendable>(_ type: Value.Type = Value.self) -> Call<Value> {
        client.start { _ in try await self.value(type) }
    }
}
