/// The transport of clients that name none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The platform's own HTTP engine, chosen well: URLSession on Apple platforms, elsewhere ``CurlTransport``, and URLSession where the
    /// system has no libcurl that can be used.
    public static let shared: any Transport = choice.transport

    /// Why ``shared`` isn't what it should be; `nil` when it is. Clients report it once through their diagnostics.
    public static let fallbackReason: String? = choice.reason

    private static let choice = choice(from: CurlTransport.attempt)

    /// What to take when that came of making libcurl's transport, which isn't made where the platform's own engine is better.
    static func choice(from attempt: @autoclosure () -> Result<CurlTransport, any Error>) -> (transport: any Transport, reason: String?) {
        #if canImport(FoundationNetworking)
        switch attempt() {
        case .success(let transport): (transport, nil)
        case .failure(let error): (URLSessionTransport.shared, "\(error)")
        }
        #else
        (URLSessionTransport.shared, nil)
        #endif
    }

    /// What a client is told whose calls go over a transport that is second best; `nil` where it isn't.
    static func note(to client: String, over transport: any Transport, reason: String? = fallbackReason) -> Diagnostics.Event? {
        guard let reason, transport is URLSessionTransport else { return nil }
        return .init(.notice, "Calls of \(client) go over URLSession. \(reason)")
    }
}
