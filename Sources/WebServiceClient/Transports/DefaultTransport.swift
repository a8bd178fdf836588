/// The transport of clients that name none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The platform's own HTTP engine, chosen well.
    public static let shared: any Transport = NoTransport()
}

private struct NoTransport: Transport {
    var capabilities: TransportCapabilities { [] }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        throw TransportError(.unsupported, "This build has no transport of its own: give the client one in its configuration.")
    }
}
