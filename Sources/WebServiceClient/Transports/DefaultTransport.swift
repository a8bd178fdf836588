/// The transport of clients that name none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The platform's own HTTP engine, chosen well: URLSession until the transport on the system's libcurl is there.
    public static let shared: any Transport = URLSessionTransport.shared
}
