// When exchanges are over that take too long.
extension CurlLoop {
    /// Watches an exchange from that instant on, if not earlier.
    func watch(_ due: ExchangeDeadlines.Due?) {
        guard let due else { return }
        nextDeadline = nextDeadline.map { min($0, due.instant) } ?? due.instant
    }

    /// Ends what is due by now.
    func checkDeadlines() {
        nextDeadline = nil
        for exchange in active { check(exchange) }
        for exchange in lanes.waiting { check(exchange) }
    }

    private func check(_ exchange: CurlExchange) {
        guard let due = exchange.due(now: now) else { return }
        guard due.instant <= now else { return watch(due) }
        guard !exchange.transfer.isAnswered else { return answered.append(exchange) }
        exchange.abandon(error(due.code, of: exchange), keepingBytes: due.code == .timedOutIdle || exchange.isCollected)
    }

    /// What is thrown when a deadline of an exchange has passed.
    func error(_ code: TransportError.Code, of exchange: CurlExchange) -> TransportError {
        let transfer = exchange.transfer
        let awaited: ExchangeDeadlines.Awaited =
            if transfer.handle == nil {
                // Its time may have been over when it came.
                transfer.queued == now ? .way(proxy: nil) : .turn
            } else if let most = settings.configuration.maximumConnectionsPerHost, most > 0, !transfer.isConnected,
                transfer.socketError == nil,
                usesAllConnections(exchange.request.origin, most)
            {
                .connection(most: most)
            } else if transfer.waitsForUpload {
                .ownBody
            } else {
                // By http a proxy answers for the service.
                .way(
                    proxy: transfer.isConnected && exchange.request.origin.scheme == "https"
                        ? nil : settings.proxyText(to: exchange.request.origin))
            }
        return exchange.deadlines.error(code, host: exchange.request.host, awaited)
    }

    /// Whether the exchanges of an origin use as many connections as a host may have.
    private func usesAllConnections(_ origin: Origin, _ most: Int) -> Bool {
        tellsBeforeSending && active.count { $0.transfer.isConnected && $0.request.origin == origin } >= most
    }

    /// How long nothing has to be done: libcurl's own timers and commands end a sleep earlier.
    var sleep: Duration { nextDeadline.map { $0 - .now } ?? .seconds(60) }
}
