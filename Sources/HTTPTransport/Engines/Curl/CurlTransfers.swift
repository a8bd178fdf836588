import CSystemLibraries

// Passing exchanges to libcurl and taking them back.
extension CurlLoop {
    /// The maximum number of handles to keep for later exchanges.
    private static let handleLimit = 128

    /// Whether libcurl reports when a connection is established.
    var reportsConnections: Bool { settings.library.reportsConnections }

    /// Performs a command.
    func handle(_ command: CurlEngine.Command) {
        switch command {
        case .start(let exchange):
            guard hasPlace(for: exchange) else {
                return exchange.abandon(CurlFault.queueIsFull(of: exchange.request.host, settings.queueLimitPerOrigin))
            }
            exchange.transfer.lane = lanes.append(exchange, to: exchange.request.origin)
            exchange.transfer.queued = now
            watch(exchange.deadlines.dueWhileConnecting)
        case .drop(let exchange):
            guard exchange.transfer.handle == nil else { return remove(exchange) }
            if let lane = exchange.transfer.lane { lanes.left(lane) { $0.isWanted } }
        case .resume(let exchange):
            guard let handle = exchange.transfer.handle, exchange.transfer.waitsForReader || exchange.transfer.waitsForUpload else {
                return
            }
            exchange.transfer.waitsForReader = false
            exchange.transfer.waitsForUpload = false
            exchange.transfer.lastProgress = now
            watch(exchange.due(now: now))
            csl_easy_pause(handle.easy, Int32(CSL_PAUSE_NONE))
        case .run(let job):
            jobs.append(job)
        }
    }

    /// Lets libcurl do its work.
    ///
    /// - Returns: Whether there is nothing left to do until an event.
    func work(hasWaited: Bool) -> Bool {
        startWaiting()
        csl_driver_work(driver, hasWaited)
        resumeYielding()
        var result: Int32 = 0
        while let easy = csl_multi_next_done(multi, &result) {
            guard let exchange = CurlCallbacks.exchange(csl_easy_user(easy)) else { continue }
            finish(exchange, result)
        }
        if !answered.isEmpty {
            for exchange in answered where exchange.transfer.handle != nil {
                exchange.transfer.isCut = true
                finish(exchange, Int32(CSL_RESULT_OK))
            }
            answered.removeAll(keepingCapacity: true)
        }
        return !lanes.hasNext
    }

    /// Resumes the exchanges that were paused until the end of the round. libcurl passes on what it holds, and reads more in the next
    /// round.
    private func resumeYielding() {
        guard !yielding.isEmpty else { return }
        let exchanges = yielding
        yielding = []
        for exchange in exchanges {
            exchange.transfer.pieces = 0
            if let handle = exchange.transfer.handle { csl_easy_pause(handle.easy, Int32(CSL_PAUSE_NONE)) }
        }
    }

    /// Returns whether another exchange may be queued.
    private func hasPlace(for exchange: CurlExchange) -> Bool {
        guard let most = settings.queueLimitPerOrigin else { return true }
        let origin = exchange.request.origin
        guard lanes.areWaiting(most, to: origin, isWanted: { $0.isWanted }) else { return true }
        // Others that arrived in this round may start at once.
        startWaiting()
        return !lanes.areWaiting(most, to: origin, isWanted: { $0.isWanted })
    }

    /// Called when the head of an exchange's response has arrived: another exchange may now wait for its head.
    func headArrived(_ exchange: CurlExchange) {
        guard !exchange.transfer.hasHead else { return }
        exchange.transfer.hasHead = true
        note(exchange)
        stopWaitingForHead(exchange)
        watch(exchange.deadlines.dueWhileReceiving(lastArrival: now))
        flushLater(exchange)
    }

    /// Notes what may follow on a connection after its first response.
    private func note(_ exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        let heads = exchange.transfer.heads
        if csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) > 0 {
            csl_driver_note(driver, handle.user, exchange.transfer.localPort, !heads.isHTTP2)
        }
        guard heads.endsWithConnection, exchange.request.origin.scheme == "https", exchange.request.method != .head else { return }
        exchange.transfer.awaitsCloseNotify = true
        handle.reportProgress()
    }

    /// Returns whether an exchange may open a connection. Once connected, it may not: if the connection turns out to be dead, libcurl opens
    /// another one to resend the request. Before libcurl asks for permission to send, a proxy would already have received a CONNECT
    /// request, and its response could be mistaken for the server's.
    func mayConnect(_ exchange: CurlExchange) -> Bool {
        guard exchange.transfer.isConnected else { return true }
        refuseResend(of: exchange)
        return false
    }

    /// Returns whether an exchange may send its request over the connection that was just established or chosen. libcurl asks again before
    /// it sends the request a second time.
    func maySend(_ exchange: CurlExchange) -> Bool {
        guard !exchange.transfer.isConnected else {
            refuseResend(of: exchange)
            return false
        }
        guard let handle = exchange.transfer.handle else { return false }
        // Data on an idle HTTP/1 connection doesn't answer this request; usually it is the end of the connection (RFC 9112 §9.2, §9.5).
        if csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) == 0, csl_driver_is_stale(driver, exchange.transfer.localPort) {
            exchange.transfer.isStale = true
            handle.forbidReuse()
            return false
        }
        exchange.transfer.isConnected = true
        let origin = exchange.request.origin
        if origin.scheme == "https" {
            exchange.transfer.tlsVersion = csl_easy_tls_version(handle.easy).map { String(cString: $0) }
        }
        do {
            try exchange.trust.check(handle.easy, origin: origin)
            guard let probe = exchange.probe else { return true }
            let chain = try CurlTrust.verifiedChain(handle.easy, host: origin.host)
            exchange.transfer.fault = probe.found(
                TrustEvaluation(host: origin.host, chain: chain, tlsVersion: exchange.transfer.tlsVersion))
        } catch {
            exchange.transfer.fault = error
        }
        // No other exchange may use this connection.
        handle.forbidReuse()
        return false
    }

    /// Counts an exchange as no longer waiting for its head.
    private func stopWaitingForHead(_ exchange: CurlExchange) {
        waitingForHead -= 1
        if let lane = exchange.transfer.lane { lanes.arrived(lane) }
    }

    private func startWaiting() {
        while let exchange = lanes.popFirst() {
            guard exchange.isWanted else { continue }
            // Its deadline may have passed in the queue: then nothing is sent, even if there is a connection.
            if let due = exchange.due(now: now), due.instant <= now {
                exchange.abandon(error(due.code, of: exchange))
            } else {
                start(exchange)
            }
        }
    }

    private func start(_ exchange: CurlExchange) {
        guard let handle = handles.popLast() ?? CurlHandle(driver) else {
            return exchange.abandon(TransportError(.other, "Memory is exhausted: there is no room for another exchange."))
        }
        exchange.transfer.loop = self
        exchange.transfer.handle = handle
        exchange.transfer.begun = now
        exchange.transfer.index = active.count
        active.append(exchange)
        waitingForHead += 1
        if let lane = exchange.transfer.lane { lanes.began(lane) }
        begin(exchange, handle)
    }

    /// Passes an exchange to libcurl.
    private func begin(_ exchange: CurlExchange, _ handle: CurlHandle) {
        do {
            try handle.prepare(for: exchange, settings)
            try keepApart(exchange, handle)
        } catch {
            exchange.abandon(error)
            return remove(exchange)
        }
        exchange.upload?.begin()
        let result = csl_multi_add(multi, handle.easy)
        guard result == 0 else {
            exchange.abandon(TransportError(.other, "libcurl rejected the exchange: \(CurlFault.text(ofSet: result))."))
            return remove(exchange)
        }
    }

    /// Starts an exchange again on a new connection, because the connection that libcurl had chosen was stale.
    private func restart(_ exchange: CurlExchange) {
        guard let stale = exchange.transfer.handle else { return }
        guard exchange.isWanted, let handle = CurlHandle(driver) else {
            exchange.abandon(TransportError(.other, "Memory is exhausted: there is no room for another exchange."))
            return remove(exchange)
        }
        leave(stale, of: exchange)
        exchange.transfer.pool = nil
        exchange.transfer.isStale = false
        exchange.transfer.needsNewConnection = true
        exchange.transfer.handle = handle
        begin(exchange, handle)
    }

    /// Returns whether an exchange failed because the guard closed its connection, which had kept libcurl from returning.
    private func wasDisconnected(_ handle: CurlHandle) -> Bool {
        let ports = [CSL_INFO_LOCAL_PORT, CSL_INFO_REMOTE_PORT].map { Int32(clamping: csl_easy_get_long(handle.easy, $0)) }
        return csl_driver_has_disconnected(driver, ports[0], ports[1])
    }

    private func finish(_ exchange: CurlExchange, _ code: Int32) {
        guard let handle = exchange.transfer.handle else { return }
        if exchange.transfer.isStale { return restart(exchange) }
        let result = settled(code, of: exchange, handle)
        exchange.transfer.endsWell = result == CSL_RESULT_OK && !exchange.transfer.isCut && exchange.transfer.heads.status < 300
        var error = exchange.transfer.fault
        if result != 0, !exchange.transfer.isAnswered, wasDisconnected(handle) {
            let isOfProxy = !exchange.transfer.isConnected && settings.proxyText(to: exchange.request.origin) != nil
            error = CurlFault.endless(exchange.request.host, isOfProxy: isOfProxy)
        }
        // An error in the rest of the request doesn't affect a complete response; over HTTP/2, the stream may still be reported as failed.
        let isAnswered = exchange.transfer.isAnswered && (!exchange.transfer.heads.isHTTP2 || handle.errorText.isEmpty)
        if !isAnswered, error == nil, result != 0, let head = exchange.transfer.heads.tunnel, !exchange.transfer.isConnected {
            // Credentials for the proxy are up to the caller. No other response of a proxy may be mistaken for the server's.
            let status = head.status
            if status == 407 { exchange.deliver(head) } else { error = CurlFault.tunnelRefused(to: exchange.request.host, status: status) }
        } else {
            if !isAnswered { error = error ?? CurlFault.error(result, of: exchange, handle) }
            // Otherwise the handle would report the result for a proxy's certificate for its next exchange, too.
            if result != 0 { handle.forget() }
            if error == nil, lastOrigin != exchange.request.origin { lastOrigin = exchange.request.origin }
        }
        exchange.finish(error, metrics: metrics(of: exchange, handle, isComplete: true))
        remove(exchange)
    }

    /// Returns the result of an exchange whose body ends with its connection: TLS determines whether the body is complete.
    private func settled(_ result: Int32, of exchange: CurlExchange, _ handle: CurlHandle) -> Int32 {
        guard exchange.transfer.awaitsCloseNotify, exchange.transfer.fault == nil else { return result }
        if settings.configuration.acceptsUnannouncedEnds {
            return CurlFault.isUnannouncedEnd(result, handle.errorText) ? Int32(CSL_RESULT_OK) : result
        }
        if result == CSL_RESULT_OK, !exchange.transfer.hasCloseNotify {
            exchange.transfer.fault = CurlFault.unannouncedEnd(of: exchange.request.host)
        } else if CurlFault.isUnannouncedEnd(result, handle.errorText) {
            exchange.transfer.fault = CurlFault.unannouncedEnd(of: exchange.request.host)
        }
        return result
    }

    /// Takes a handle back from libcurl.
    private func leave(_ handle: CurlHandle, of exchange: CurlExchange) {
        csl_multi_remove(multi, handle.easy)
        handle.release()
        if let key = exchange.transfer.pool { pools.give(key, now: now) }
    }

    private func remove(_ exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        leave(handle, of: exchange)
        // libcurl may have noted in the handle that a body must be rewound before it is resent. A reset keeps the note, and the handle's
        // next upload, which can't be rewound, would fail because of it (curl's issue 18206).
        var isFit = exchange.transfer.endsWell
        if case .none = exchange.request.upload { isFit = true }
        if isFit, handles.count < Self.handleLimit { handles.append(handle) }
        if !exchange.transfer.hasHead { stopWaitingForHead(exchange) }
        exchange.transfer.handle = nil
        let index = exchange.transfer.index
        active.swapAt(index, active.count - 1)
        active[index].transfer.index = index
        active.removeLast()
    }

    /// Stores the metrics known when the head has arrived, for callers that read them before the end.
    func noteMetrics(of exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle, exchange.transfer.hasHead, !exchange.transfer.hasMetrics else { return }
        exchange.transfer.hasMetrics = true
        let metrics = metrics(of: exchange, handle, isComplete: false)
        exchange.state.withLock { $0.metrics = metrics }
    }

    private func metrics(of exchange: CurlExchange, _ handle: CurlHandle, isComplete: Bool) -> CurlMetrics {
        let waited = (exchange.transfer.begun ?? exchange.started) - exchange.started
        return CurlMetrics(
            handle.easy, waited: waited, tlsVersion: exchange.transfer.tlsVersion, unixSocket: settings.configuration.unixSocket,
            isComplete: isComplete)
    }
}
