import CSystemLibraries

// What libcurl would send a second time by itself, and doesn't: each request goes out once, and whether again is for others to say.
extension CurlLoop {
    /// The most origins that are remembered.
    private static let mostOrigins = 256

    /// libcurl wants to send the request of an exchange again, over another connection or over the same.
    func refusesResend(of exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        let host = exchange.request.host
        let (heads, text) = (exchange.transfer.heads, handle.errorText)
        let asksForHTTP1 = CurlFault.asksForHTTP1(text)
        if asksForHTTP1 {
            if needingHTTP1.count >= Self.mostOrigins { needingHTTP1 = [] }
            needingHTTP1.insert(exchange.request.origin)
        }
        if exchange.transfer.hasHead, heads.status == 417, !asksForHTTP1 {
            // It was about to send the request without its Expect, and kept nothing of the answer's body.
            if heads.isBodyless {
                (exchange.transfer.isAnswered, exchange.transfer.isCut) = (true, true)
            } else {
                exchange.transfer.fault = CurlFault.expectationFailed(at: host)
            }
        } else if exchange.transfer.hasHead {
            exchange.transfer.fault = CurlFault.brokenOff(host, text)
        } else if asksForHTTP1 {
            exchange.transfer.fault = CurlFault.needsHTTP1(host)
        } else {
            // Where a stream was refused, nothing was said of it. A connection that is reset is said to be, also one that others have joined.
            let isRefused = text.isEmpty && csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) > 0
            exchange.transfer.fault = isRefused ? CurlFault.refused(by: host) : CurlFault.stale(host)
        }
    }
}
