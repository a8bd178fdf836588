/// The transport of clients that name none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The platform's own HTTP engine, chosen well: URLSession on Apple platforms, elsewhere ``CurlTransport``, and URLSession where the
    /// system has no libcurl that can be used.
    public static let shared: any Transport = choice.transport

    /// Why ``shared`` isn't what it should be; `nil` when it is. Clients report it once through their diagnostics.
    public static let fallbackReason: String? = choice.reason

    private static let choice: (transport: any Transport, reason: String?) = {
        #if canImport(FoundationNetworking)
        do {
            _ = try CurlLibrary.open()
        } catch {
            return (URLSessionTransport.shared, "\(error)")
        }
        guard let transport = CurlTransport.shared else {
            return (URLSessionTransport.shared, "The transport on libcurl can't be made: there is no memory for it.")
        }
        return (transport, nil)
        #else
        return (URLSessionTransport.shared, nil)
        #endif
    }()
}
