import Foundation
import WebServiceClient

/// Runs an asynchronous handler for a connection's thread, which waits for it.
struct HandlerCall {
    let socket: LoopbackSocket

    /// The handler's answer.
    ///
    /// - Throws: what the handler throws, or ``ConnectionEnd`` when the client goes or the server stops first; the task is then
    ///   cancelled and left to itself.
    func answer(to request: LoopbackRequest, by handler: @escaping LoopbackRoutes.AsyncHandler) throws -> LoopbackResponse {
        let outcome = Locked<Result<LoopbackResponse, any Error>?>(nil)
        let finished = DispatchSemaphore(value: 0)
        let task = Task.detached {
            let result: Result<LoopbackResponse, any Error>
            do { result = .success(try await handler(request)) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            finished.signal()
        }
        // The semaphore can't be polled beside the socket, so the thread looks at the socket from time to time.
        while finished.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            do {
                try socket.pause(until: .now)
            } catch {
                task.cancel()
                throw error
            }
        }
        return try outcome.withLock { $0 }?.get() ?? .status(500)
    }
}
