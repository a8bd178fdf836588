/// What follows an interceptor in the chain: call it to go on, once, never, or again.
public typealias NextInterceptor = @Sendable (_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse

/// Something that happens to a call: it wraps whatever follows it in the chain.
///
/// This is the seam for changing, watching, answering or repeating calls. To put bytes on the wire in another way, write a
/// ``Transport`` instead. An interceptor
/// * may change the request before it calls `next` and the response after it;
/// * may answer by itself without calling `next`, or call it several times; before it repeats a call it drops or cancels the
///   response's body and checks that the request's body ``RequestBody/isReplayable``;
/// * lets `CancellationError` pass;
/// * throws to end the call: the caller gets a ``ServiceError`` whose cause is that error.
///
/// To test one, call it with a closure for `next`:
///
///     let response = try await MyInterceptor().intercept(request, context: .test) { request, _ in
///         TransportResponse(status: 200, url: request.url)
///     }
public protocol Interceptor: Sendable {
    /// Handles one request of a call.
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse
}
