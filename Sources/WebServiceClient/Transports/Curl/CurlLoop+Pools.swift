// Whose connections an exchange may use.
extension CurlLoop {
    /// Connections to a proxy, or through it, are for those only who show it the same credentials: what they have opened counts for the whole of
    /// a tunnel, and with some schemes (NTLM, Negotiate) for the whole of a plain connection.
    ///
    /// - Throws: ``TransportError`` when there is no memory.
    func keepApart(_ exchange: CurlExchange, _ handle: CurlHandle) throws(TransportError) {
        guard let key = exchange.request.fields.proxyKey, settings.mayUseProxies else { return }
        guard let pool = pools.take(key, now: now) else {
            throw TransportError(.other, "There is no memory for connections through the proxy.")
        }
        exchange.transfer.pool = key
        handle.use(pool)
    }
}
