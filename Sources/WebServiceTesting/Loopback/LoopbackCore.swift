import Foundation
import WebServiceClient

/// The state shared by the threads of a ``LoopbackServer``. They retain the core and not the server, so that releasing the server stops
/// them.
final class LoopbackCore: Sendable {
    private struct State {
        var routes: LoopbackRoutes?
        var requests: [LoopbackRequest] = []
        var recordedBytes = 0
        var failures: [String] = []
        var connections = 0
        var openConnections = 0
        var threads = 0
        /// The running threads. A handler on one of them may call `stop()`, which must not wait for that thread.
        var serving: Set<ObjectIdentifier> = []
    }

    let options: LoopbackServer.Options
    private let listener: LoopbackSocket
    private let stopSignal: StopSignal
    private let state: Locked<State>
    private let threadEnded = DispatchSemaphore(value: 0)

    init(listener: LoopbackSocket, stopSignal: StopSignal, options: LoopbackServer.Options, routes: LoopbackRoutes) {
        self.listener = listener
        self.stopSignal = stopSignal
        self.options = options
        state = Locked(State(routes: routes))
    }

    // MARK: What happened

    var routes: LoopbackRoutes {
        get { state.withLock { $0.routes } ?? LoopbackRoutes { _ in } }
        set { state.withLock { if $0.routes != nil { $0.routes = newValue } } }
    }

    var requests: [LoopbackRequest] { state.withLock { $0.requests } }
    var requestCount: Int { state.withLock { $0.requests.count } }
    var failures: [String] { state.withLock { $0.failures } }
    var connections: Int { state.withLock { $0.connections } }
    var openConnections: Int { state.withLock { $0.openConnections } }

    func record(_ request: LoopbackRequest) {
        var record = request
        state.withLock { state in
            if state.recordedBytes + record.body.count > options.recordingLimit { record.body = Data() }
            state.recordedBytes += record.body.count
            state.requests.append(record)
        }
    }

    func note(_ failure: String) {
        state.withLock { $0.failures.append(failure) }
    }

    func forget() {
        state.withLock { state in
            state.requests = []
            state.failures = []
            state.recordedBytes = 0
        }
    }

    // MARK: Threads

    func start() {
        startThread { core in
            core.acceptConnections()
            core.listener.close()
        }
    }

    /// Ends all threads and closes all descriptors. Waits up to five seconds for a handler that blocks.
    func stop() {
        stopSignal.raise()
        let me = ObjectIdentifier(Thread.current)
        let deadline = ContinuousClock.now + .seconds(5)
        while state.withLock({ $0.threads - ($0.serving.contains(me) ? 1 : 0) }) > 0, ContinuousClock.now < deadline {
            _ = threadEnded.wait(timeout: .now() + .milliseconds(10))
        }
        // The handlers may retain the server, which retains the core.
        state.withLock { $0.routes = nil }
        if state.withLock({ $0.threads }) == 0 { stopSignal.release() }
    }

    private func acceptConnections() {
        while case .ready = listener.waitForConnection() {
            guard state.withLock({ $0.threads }) <= options.connectionLimit, let socket = listener.accepted() else {
                // All threads are busy, or the process is out of descriptors: further connections wait in the queue.
                stopSignal.wait(milliseconds: 5)
                continue
            }
            let number = state.withLock { state in
                state.connections += 1
                state.openConnections += 1
                return state.connections
            }
            startThread { core in
                var connection = LoopbackConnection(socket: socket, number: number, core: core)
                connection.serve()
                core.state.withLock { $0.openConnections -= 1 }
            }
        }
    }

    private func startThread(_ work: @escaping @Sendable (LoopbackCore) -> Void) {
        state.withLock { $0.threads += 1 }
        let thread = Thread { [self] in
            let me = ObjectIdentifier(Thread.current)
            _ = state.withLock { $0.serving.insert(me) }
            work(self)
            state.withLock { state in
                state.serving.remove(me)
                state.threads -= 1
            }
            threadEnded.signal()
        }
        thread.name = "LoopbackServer"
        thread.stackSize = 1 << 20
        thread.start()
    }
}
