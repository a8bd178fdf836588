import CSystemLibraries

// What libcurl would send a second time by itself, and doesn't: each request goes out once, and whether again is for others to say.
extension CurlLoop {
    /// The most origins that are remembered.
    private static let mostOrigins = 256

    /// libcurl wants to send the request of an exchange again, over another connection or over the same.
    func refusesResend(of exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        let host = exchange.request.host
        guard !exchange.transfer.hasHead else {
            // It was about to send the request without its Expect, and kept nothing of the answer's body.
            if exchange.transfer.heads.isBodyless {
                exchange.transfer.isAnswered = true
            } else {
                exchange.transfer.fault = CurlFault.expectationFailed(at: host)
            }
            return
        }
        guard CurlFault.asksForHTTP1(handle.errorText) else {
            let isNew = csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) > 0
            exchange.transfer.fault = isNew ? CurlFault.refused(by: host) : CurlFault.stale(host)
            return
        }
        exchange.transfer.fault = CurlFault.needsHTTP1(host)
        if needingHTTP1.count >= Self.mostOrigins { needingHTTP1 = [] }
        needingHTTP1.insert(exchange.request.origin)
    }
}
