// Whose connections an exchange may use.
extension CurlLoop {
    /// Tunnels through a proxy are for those only who show it the same credentials.
    func keepApart(_ exchange: CurlExchange, _ handle: CurlHandle) {
        let request = exchange.request
        guard let key = request.fields.proxyKey, request.origin.scheme == "https", settings.proxyText != nil else { return }
        guard let pool = pools.take(key) else { return handle.useOwnConnection() }
        exchange.transfer.pool = key
        handle.use(pool)
    }
}
