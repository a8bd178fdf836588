/// Changes responses before their status is checked and they are decoded: to decrypt, unwrap, count.
///
///     $0.interceptors = [ResponseProcessor { $0.headers["X-Seen"] = "1" }]
///
/// It runs once per call, on the final response. Interceptors wrap what is listed behind them, so of several processors the last listed
/// runs first; ``init(inOrder:)`` makes one of several that run in their order. An error ends the call, and the processors behind it don't run.
public struct ResponseProcessor: Interceptor {
    private let process: @Sendable (inout TransportResponse, CallContext) async throws -> Void

    /// A processor that changes the response.
    public init(_ process: @escaping @Sendable (inout TransportResponse) async throws -> Void) {
        self.process = { response, _ in try await process(&response) }
    }

    /// A processor that also sees which call it is.
    public init(_ process: @escaping @Sendable (inout TransportResponse, CallContext) async throws -> Void) {
        self.process = process
    }

    /// One processor of several, which run one after the other until one throws.
    public init(inOrder processors: [ResponseProcessor]) {
        process = { response, context in
            for processor in processors { try await processor.process(&response, context) }
        }
    }

    /// Passes the request on and processes the response.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var response = try await next(request, context)
        try await process(&response, context)
        return response
    }
}
