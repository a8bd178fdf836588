import CSystemLibraries

/// The front of a transport's loop: takes commands from any thread and wakes the loop when it sleeps, once per sleep.
final class CurlEngine: Sendable {
    /// What the loop is told.
    enum Command: Sendable {
        /// Send it.
        case start(CurlExchange)
        /// Nobody wants it any more.
        case drop(CurlExchange)
        /// There is room for its body again, or more of the request's body.
        case resume(CurlExchange)
    }

    private struct Mailbox {
        var commands: [Command] = []
        var isClosed = false
        var isAsleep = false
        var isStarted = false
        var hasEnded = false
    }

    /// libcurl's set of transfers. Other threads only ever wake it, which libcurl allows.
    private struct Multi: @unchecked Sendable {
        let pointer: OpaquePointer
        let waker = csl_waker_new()

        func wake() {
            csl_multi_wakeup(pointer, waker)
        }
    }

    /// Memory for the bodies.
    let blocks = BodyBlocks()
    private let settings: CurlSettings
    private let multi: Multi
    private let mailbox = Locked(Mailbox())

    /// An engine whose thread starts with the first exchange.
    ///
    /// - Throws: ``CurlUnavailable`` when there is no memory.
    init(_ settings: CurlSettings) throws(CurlUnavailable) {
        csl_curl_enter()
        let pointer = csl_multi_new()
        csl_curl_leave()
        guard let pointer else { throw CurlUnavailable(reason: "libcurl has no memory for a set of transfers") }
        multi = Multi(pointer: pointer)
        self.settings = settings
    }

    deinit {
        // The loop keeps the engine as long as it runs: so by now it has ended, or it never began.
        csl_curl_enter()
        csl_multi_free(multi.pointer)
        csl_curl_leave()
        csl_waker_free(multi.waker)
    }

    /// Passes a command to the loop.
    ///
    /// - Returns: `false` for a start after ``close()``; the others are always taken. Where no thread can be had, exchanges fail.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let (isTaken, wakes, starts) = mailbox.withLock { box -> (Bool, Bool, Bool) in
            if case .start = command, box.isClosed { return (false, false, false) }
            // Nobody would take it out again, and it would keep the engine.
            if box.hasEnded { return (true, false, false) }
            box.commands.append(command)
            let wakes = box.isAsleep
            let starts = !box.isStarted
            box.isAsleep = false
            box.isStarted = true
            return (true, wakes, starts)
        }
        if wakes { multi.wake() }
        guard starts, !startThread() else { return isTaken }
        // Nobody will ever run what waits, also what other threads have posted meanwhile.
        let orphans = mailbox.withLock { box in
            box.isStarted = false
            defer { box.commands = [] }
            return box.commands
        }
        for case .start(let exchange) in orphans {
            exchange.abandon(TransportError(.other, "The system gives no thread for the transport: too many are running."))
        }
        return true
    }

    /// Takes no new exchanges. Those under way go on to their end, and with the last the thread ends.
    func close() {
        let wakes = mailbox.withLock { box in
            box.isClosed = true
            defer { box.isAsleep = false }
            return box.isAsleep
        }
        if wakes { multi.wake() }
    }

    /// Moves what has come since the loop last asked into an array that the loop has emptied.
    ///
    /// - Parameter sleepsIfNone: whether the loop is about to sleep where nothing has come: then the next command wakes it.
    /// - Returns: whether no new exchanges will come.
    func collect(_ commands: inout [Command], sleepsIfNone: Bool) -> Bool {
        mailbox.withLock { box in
            if !box.commands.isEmpty { swap(&box.commands, &commands) }
            box.isAsleep = sleepsIfNone && commands.isEmpty
            return box.isClosed
        }
    }

    /// Ends the mailbox, if nothing is in it: the loop is about to go.
    func end() -> Bool {
        mailbox.withLock { box in
            box.hasEnded = box.commands.isEmpty
            return box.hasEnded
        }
    }

    private func startThread() -> Bool {
        let loop = CurlLoop(self, multi.pointer, waker: multi.waker, settings)
        let context = Unmanaged.passRetained(loop).toOpaque()
        let isStarted = csl_thread_start(
            "curl-transport",
            { context in
                guard let context else { return }
                Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        if !isStarted { Unmanaged<CurlLoop>.fromOpaque(context).release() }
        return isStarted
    }
}
