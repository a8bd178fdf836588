import CSystemLibraries

/// The front of a transport's loop: takes commands from any thread and wakes the loop when it sleeps, once per sleep.
///
/// A request that finds the loop asleep goes out from the caller's own thread, where the system can do that: a wake-up and a change of
/// threads are a good part of what an exchange by itself costs.
final class CurlEngine: Sendable {
    /// What the loop is told.
    enum Command: Sendable {
        /// Send it.
        case start(CurlExchange)
        /// Nobody wants it any more.
        case drop(CurlExchange)
        /// There is room for its body again, or more of the request's body.
        case resume(CurlExchange)
        /// Work for its thread.
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

    /// libcurl's set of transfers, and what lets it work. Used by who has the turn; any thread may wake it.
    private struct Multi: @unchecked Sendable {
        let pointer: OpaquePointer
        let driver: OpaquePointer
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
        guard csl_curl_enter() else { throw CurlUnavailable(reason: "the process exits") }
        defer { csl_curl_leave() }
        guard let pointer = csl_multi_new() else { throw CurlUnavailable(reason: "libcurl has no memory for a set of transfers") }
        guard let driver = csl_driver_new(pointer) else {
            csl_multi_free(pointer)
            throw CurlUnavailable(reason: "the system has no memory, or no descriptor, for a set of transfers")
        }
        multi = Multi(pointer: pointer, driver: driver)
        self.settings = settings
    }

    deinit {
        // The loop keeps the engine as long as it runs: so by now it has ended, or it never began. At the process's very end all is left.
        guard csl_curl_enter() else { return }
        // On any thread, and what is said to the other sides of secure connections that are gone must not end the process.
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        csl_multi_free(multi.pointer)
        csl_signal_guard_end(&signals)
        csl_curl_leave()
        csl_driver_free(multi.driver)
    }

    /// What becomes of a command.
    private enum Posting {
        case refused, waits, wakes, starts
        /// The caller has the loop's turn, and does it by itself.
        case isOwner(CurlLoop)
    }

    /// Passes a command to the loop.
    ///
    /// - Returns: `false` for a start after ``close()``, and for a job after the thread's end; the others are always taken. Where no thread
    ///   can be had, exchanges fail, and jobs are run elsewhere.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let posting = mailbox.withLock { box -> Posting in
            if case .start(let exchange) = command {
                if box.isClosed { return .refused }
                if box.isAsleep, let loop = box.loop, loop.acquire(for: exchange) {
                    box.isAsleep = false
                    return .isOwner(loop)
                }
            }
            // Nobody would take it out again, and it would keep the engine.
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
        case .isOwner(let loop): loop.performOnCaller(command)
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
        if wakes { csl_driver_wake(multi.driver) }
    }

    /// Moves what has come since the loop last asked behind what it has.
    ///
    /// - Parameter sleepsIfNone: whether the loop is about to sleep where nothing has come: then the next command wakes it.
    /// - Returns: whether no new exchanges will come.
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

    /// A caller has begun its exchange by itself, and gives the turn back.
    ///
    /// - Parameter sleepContinues: whether the loop's thread may sleep on, where no commands have come meanwhile.
    func releaseOwnership(sleepContinues: Bool) {
        let wakes = mailbox.withLock { box in
            // After close() the loop looks whether it is done, whatever has become of this exchange.
            box.isAsleep = sleepContinues && box.commands.isEmpty && !box.isClosed
            return !box.isAsleep
        }
        csl_driver_release(multi.driver)
        if wakes { csl_driver_wake(multi.driver) }
    }

    /// The loop, while its thread runs.
    var loop: CurlLoop? { mailbox.withLock { $0.loop } }

    /// Ends the mailbox, if nothing is in it: the loop is about to go.
    func end() -> Bool {
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
                Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard !isStarted else { return }
        Unmanaged<CurlLoop>.fromOpaque(context).release()
        // Nobody will ever run what waits, also what other threads have posted meanwhile.
        let orphans = mailbox.withLock { box in
            box.isStarted = false
            box.loop = nil
            defer { box.commands = [] }
            return box.commands
        }
        for orphan in orphans {
            switch orphan {
            case .start(let exchange):
                exchange.abandon(TransportError(.other, "The system gives no thread for the transport: too many are running."))
            case .run(let job): job.runElsewhere()
            case .drop, .resume: break
            }
        }
    }
}

extension Duration {
    /// The milliseconds that `poll` may wait for it: rounded up, so that none is asked for its end too early, none when it has passed, and at
    /// most a minute, since who waits looks again then.
    var pollMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 60 else { return 60_000 }
        return Int32(seconds) * 1_000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
