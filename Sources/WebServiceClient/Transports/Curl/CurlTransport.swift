import CSystemLibraries
import Foundation

/// A transport on the system's libcurl: the default on Linux.
///
///     let transport = try CurlTransport()
///     let response = try await transport.send(ServiceRequest(url: url))
///     for try await piece in response.body { … }
///
/// It sends what the request says, once: redirects and challenges come back as responses, there are no cookies and no cache, and the
/// deadlines are kept here, to the millisecond. Nothing is sent a second time, also where libcurl by itself would. A kept connection of HTTP/1
/// is looked at before it carries another request: where it has something to read, or has ended, the request goes out over a new one. On a
/// connection that the server closes at that very moment, the exchange fails with ``TransportError/Code/connectionLost``. (With a libcurl
/// before 7.80 no connection is kept.)
///
/// * Of its own it adds `Host`, `Content-Length` or `Transfer-Encoding`, and `Accept-Encoding` with the codings it undoes; a request that
///   names its own gets that one. A request with `Range`, or with `Accept-Encoding: identity`, gets the body as it comes.
/// * Compressed bodies arrive decoded, while `Content-Encoding` and `Content-Length` stay in the head as they were. They are decoded on the
///   reader's task, piece by piece of at most 64 kB, by the system's zlib, libbrotlidec and libzstd, as far as these are there. Bytes that
///   end too early, are damaged, or go on behind their end are errors; a body with a coding that can't be undone arrives as it is.
/// * A reader that is slow slows the server down: some 256 kB wait at most, beside what the kernel holds. Over HTTP/2 libcurl itself may
///   hold up to its window of 32 MB per stream.
/// * A refusal, from status 300 on, ends an upload. So does another answer that is complete by its length, where the server closes the connection
///   behind it, where the body goes silent for the idle time, or over HTTP/2 where the server takes nothing of it for 3 seconds.
/// * Upload progress is told on the loop's thread, or on that of another call: a closure must return at once.
///
/// One thread runs all exchanges of a transport, and takes no signals; on Linux, a request that finds it asleep goes out from the caller's
/// own thread. Where answers come in a tenth of a millisecond, as from a server on the same machine, who waits for one stays awake for so
/// long, if nothing else is under way: to fall asleep and be woken takes as long. The connections aren't inherited by child processes.
public final class CurlTransport: Transport {
    /// The transport for the whole process; `nil` where libcurl can't be used: ``CurlLibrary/open()`` says why.
    public static var shared: CurlTransport? { try? attempt.get() }
    /// How it went to make it.
    static let attempt = Result { try CurlTransport() }

    /// Prepared policies that are kept, at most: a program has few, but it may make one for each request.
    private static let keptPolicies = 64

    private let settings: CurlSettings
    let engine: CurlEngine
    /// A ``CurlTaskExecutor``, where the system has such.
    let loopExecutor: (any Executor)?
    private let standardTrust: CurlTrust
    private let prepared = Locked<[UInt64: CurlTrust]>([:])

    /// A transport with connections of its own.
    ///
    /// - Throws: ``CurlUnavailable`` when libcurl isn't there or too old, ``TransportError`` when it can't do what the trust policy and
    ///   the proxy's authorities ask for, or the proxy or one of its exceptions can't be one.
    public init(configuration: Configuration = Configuration()) throws {
        let library = try CurlLibrary.open()
        settings = try CurlSettings(library: library, configuration: configuration)
        standardTrust = try CurlTrust(configuration.trust, library: library)
        engine = try CurlEngine(settings)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            loopExecutor = CurlTaskExecutor(engine)
        } else {
            loopExecutor = nil
        }
    }

    deinit {
        engine.close()
    }

    /// The library that does the work.
    public var library: CurlLibrary { settings.library }

    /// What it can do: most things, as far as the library can.
    public var capabilities: TransportCapabilities {
        let library = settings.library
        var capabilities: TransportCapabilities = [
            .backPressure, .streamingUploads, .trailers, .metrics, .informationalResponses, .bodiesWithGET,
        ]
        capabilities.formUnion(CurlTrust.capabilities(of: library))
        if library.features.contains(.http2), settings.configuration.httpVersion != .http1 { capabilities.insert(.http2) }
        if library.features.contains(.ipv6) { capabilities.insert(.ipv6Literals) }
        if library.tellsBeforeSending { capabilities.formUnion([.connectDeadlines, .proxyAuthentication]) }
        return capabilities
    }

    /// Ends the transport: exchanges that are under way go on to their end, new ones are refused. The last reference does the same.
    public func invalidate() {
        engine.close()
    }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled; ``RequestBodyError`` when the body can't be read, and
    ///   what a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let exchange = try exchange(for: request)
        let head = try await exchange.head()
        return try exchange.response(to: request, head)
    }

    /// The exchange that a request becomes.
    ///
    /// - Parameter probe: takes the request's place once the connection stands.
    func exchange(for request: ServiceRequest, probe: TrustProbe? = nil) throws -> CurlExchange {
        // Before 7.80 libcurl doesn't tell when a connection stands: the wait for the answer would be counted.
        try request.timeouts.check(capabilities)
        let outgoing = try CurlRequest(request, codings: ContentCoding.acceptable)
        let trust = try trust(of: request)
        try trust.checkPins(callTo: outgoing.origin)
        return CurlExchange(outgoing, from: request, trust: trust, probe: probe, engine: engine)
    }

    /// A policy as libcurl takes it. What was prepared for a policy is kept, since requests of one client share it.
    private func trust(of request: ServiceRequest) throws(TransportError) -> CurlTrust {
        guard let policy = request.trust else { return standardTrust }
        if let known = prepared.withLock({ $0[policy.storageID] }) { return known }
        let trust = try CurlTrust(policy, library: settings.library)
        prepared.withLock { prepared in
            if prepared.count >= Self.keptPolicies { prepared = [:] }
            prepared[policy.storageID] = trust
        }
        return trust
    }
}
