import CSystemLibraries

/// The queue of commands for a transport's loop, and the loop's thread. Any thread can post a command; the first one wakes a sleeping loop.
///
/// If the loop is asleep, the calling thread sends the request itself where the system allows it: waking another thread would take a
/// large part of the time of a single exchange.
final class CurlEngine: Sendable {
    /// A command for the loop.
    enum Command: Sendable {
        /// Starts an exchange.
        case start(CurlExchange)
        /// Drops an exchange whose response isn't needed any more.
        case drop(CurlExchange)
        /// Continues an exchange: there is room for the response's body again, or more of the request's body.
        case resume(CurlExchange)
        /// Runs a job on the loop's thread.
        case run(any CurlLoopJob)
    }

    private struct Mailbox {
        var commands: [Command] = []
        var isClosed = false
        var isAsleep = false
        var isStarted = false
        var hasEnded = false
        /// The loop, from its thread's start to its end.
        var loop: CurlLoop?
    }

    /// libcurl's set of transfers and its driver. Used only by the owner, except that any thread may wake the driver.
    private struct Multi: @unchecked Sendable {
        let pointer: OpaquePointer
        let driver: OpaquePointer
    }

    /// The memory for bodies.
    let blocks = BodyBlocks()
    private let settings: CurlSettings
    private let multi: Multi
    private let mailbox = Locked(Mailbox())

    /// Creates an engine whose thread starts with the first exchange.
    ///
    /// - Throws: ``CurlUnavailable`` if memory or descriptors are exhausted, or the process exits.
    init(_ settings: CurlSettings) throws(CurlUnavailable) {
        guard csl_curl_enter() else { throw CurlUnavailable(reason: "the process exits") }
        defer { csl_curl_leave() }
        guard let pointer = csl_multi_new() else { throw CurlUnavailable(reason: "libcurl has no memory for a set of transfers") }
        guard let driver = csl_driver_new(pointer) else {
            csl_multi_free(pointer)
            throw CurlUnavailable(reason: "memory or descriptors for a set of transfers are exhausted")
        }
        multi = Multi(pointer: pointer, driver: driver)
        self.settings = settings
    }

    deinit {
        // The loop retains the engine while it runs, so it has ended or never started. At the very end of the process, nothing is freed.
        guard csl_curl_enter() else { return }
        // This may be any thread, and close_notify alerts on broken connections must not raise SIGPIPE.
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        csl_multi_free(multi.pointer)
        csl_signal_guard_end(&signals)
        csl_curl_leave()
        csl_driver_free(multi.driver)
    }

    /// What ``post(_:)`` does with a command.
    private enum Posting {
        case refused, waits, wakes, starts
        /// The caller owns the loop, and performs the command itself.
        case performsOnCaller(CurlLoop)
    }

    /// Posts a command to the loop.
    ///
    /// - Returns: `false` if the command starts an exchange and the engine is closed, or if it is a job and the thread has ended; otherwise
    ///   `true`. After the thread's end, `drop` and `resume` have no effect. If the thread can't be started, exchanges fail, and jobs run
    ///   elsewhere.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let posting = mailbox.withLock { box -> Posting in
            if case .start(let exchange) = command {
                if box.isClosed { return .refused }
                if box.isAsleep, let loop = box.loop, loop.acquire(for: exchange) {
                    box.isAsleep = false
                    return .performsOnCaller(loop)
                }
            }
            // The loop no longer reads the mailbox; a queued command would keep the engine alive.
            if box.hasEnded {
                if case .run = command { return .refused }
                return .waits
            }
            box.commands.append(command)
            guard box.isStarted else {
                box.isStarted = true
                return .starts
            }
            defer { box.isAsleep = false }
            return box.isAsleep ? .wakes : .waits
        }
        switch posting {
        case .refused: return false
        case .waits: break
        case .wakes: csl_driver_wake(multi.driver)
        case .starts: startThread()
        case .performsOnCaller(let loop): loop.performOnCaller(command)
        }
        return true
    }

    /// Refuses new exchanges. Exchanges in progress continue, and the thread ends after the last one.
    func close() {
        let wakes = mailbox.withLock { box in
            box.isClosed = true
            defer { box.isAsleep = false }
            return box.isAsleep
        }
        if wakes { csl_driver_wake(multi.driver) }
    }

    /// Appends the commands posted since the last call.
    ///
    /// - Parameter sleepsIfNone: Whether the loop sleeps if there are none. Then the next command wakes it.
    /// - Returns: Whether the engine is closed.
    func collect(_ commands: inout [Command], sleepsIfNone: Bool) -> Bool {
        mailbox.withLock { box in
            if commands.isEmpty {
                swap(&box.commands, &commands)
            } else {
                commands.append(contentsOf: box.commands)
                box.commands.removeAll(keepingCapacity: true)
            }
            box.isAsleep = sleepsIfNone && commands.isEmpty
            return box.isClosed
        }
    }

    /// Releases ownership after a caller has sent its exchange.
    ///
    /// - Parameter sleepContinues: Whether the loop's thread may continue to sleep if no commands have arrived.
    func releaseOwnership(sleepContinues: Bool) {
        let wakes = mailbox.withLock { box in
            // After close(), the loop must check whether it can end, whatever the state of this exchange.
            box.isAsleep = sleepContinues && box.commands.isEmpty && !box.isClosed
            return !box.isAsleep
        }
        csl_driver_release(multi.driver)
        if wakes { csl_driver_wake(multi.driver) }
    }

    /// The loop, while its thread runs.
    var loop: CurlLoop? { mailbox.withLock { $0.loop } }

    /// Marks the loop as ended if no commands are waiting.
    ///
    /// - Returns: Whether it has ended.
    func endIfEmpty() -> Bool {
        mailbox.withLock { box in
            box.hasEnded = box.commands.isEmpty
            if box.hasEnded { box.loop = nil }
            return box.hasEnded
        }
    }

    private func startThread() {
        let loop = CurlLoop(self, multi.pointer, multi.driver, settings)
        mailbox.withLock { $0.loop = loop }
        let context = Unmanaged.passRetained(loop).toOpaque()
        let isStarted = csl_thread_start(
            "curl-transport",
            { context in
                guard let context else { return }
                TransportThread.mark()
                Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard !isStarted else { return }
        Unmanaged<CurlLoop>.fromOpaque(context).release()
        // The waiting commands, including those posted by other threads in the meantime, would never be performed.
        let orphans = mailbox.withLock { box in
            box.isStarted = false
            box.loop = nil
            defer { box.commands = [] }
            return box.commands
        }
        for orphan in orphans {
            switch orphan {
            case .start(let exchange):
                exchange.abandon(
                    TransportError(.other, "No thread can be started for the transport: the limit of threads or memory is reached."))
            case .run(let job): job.runElsewhere()
            case .drop, .resume: break
            }
        }
    }
}

extension Duration {
    /// The timeout for `poll` in milliseconds: rounded up so that it doesn't end early, 0 if the duration has passed, and at most a minute,
    /// since waiting is repeated.
    var pollMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 60 else { return 60_000 }
        return Int32(seconds) * 1_000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
