package import Foundation
package import HTTPTransport

/// A call whose request and response another exchange encloses, such as a part of a batch.
///
/// The program's call is made twice: ``of(_:_:)`` captures its request, and ``answering(_:with:_:)`` reads its response, both with the code
/// of an ordinary call. The chain doesn't run: its stages apply to the enclosing call.
package struct EnclosedCall: Sendable {
    /// The request, changed by the call's own `prepare`.
    package let request: ServiceRequest
    /// The call's name.
    package let identity: CallIdentity
    /// Whether the request leaves the service.
    package let isForeign: Bool

    /// Whether the current task captures or answers calls.
    package static var isActive: Bool { DryRun.current != nil }

    /// Captures the first call that a closure makes with a client. Calls that it makes with other clients throw ``ServiceError``.
    ///
    /// - Returns: The call, or else the closure's result if it makes none.
    /// - Throws: The closure's error if it makes no call; ``ServiceError`` if the call's `prepare` fails.
    package static func of<Client: WebServiceClient, Result>(
        _ client: Client, isolation: isolated (any Actor)? = #isolation, _ body: (Client) async throws -> Result
    ) async throws -> (call: EnclosedCall?, result: Result?) {
        let captured = Locked<CapturedCall?>(nil)
        let dryRun = DryRun(client: client, isExclusive: true) { call in captured.withLock { $0 = $0 ?? call as? CapturedCall } }
        var result: Result?
        do {
            result = try await DryRun.$current.withValue(dryRun) { try await body(client) }
        } catch {
            guard captured.withLock({ $0 != nil }) else { throw error }
        }
        guard let call = captured.withLock({ $0 }) else { return (nil, result) }
        return (try await EnclosedCall(call), nil)
    }

    private init(_ call: CapturedCall) async throws {
        var request = call.bound.request
        do {
            try await call.dispatcher.options.prepare?(&request)
        } catch {
            throw call.dispatcher.wrap(error, stage: .chain, request: request)
        }
        if let body = request.body, body.contentTypeIsBinding, let type = body.contentType { request.headers[.contentType] = type }
        self.request = request
        identity = call.identity
        isForeign = call.bound.isForeign
    }

    /// Runs a closure whose first call with a client takes a response instead of being sent. Its later calls are sent; before it, calls of
    /// other clients throw ``ServiceError``.
    ///
    /// - Parameter response: Makes the response from the call's URL.
    package static func answering<Client: WebServiceClient, Result>(
        _ client: Client, with response: @escaping @Sendable (URL) -> TransportResponse, _ body: (Client) async throws -> Result
    ) async throws -> Result {
        try await DryRun.$current.withValue(DryRun(client: client, answer: response)) { try await body(client) }
    }
}

extension WebServiceClient {
    /// Performs an action after a duration, by the client's clock.
    package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        _ = state.runtime.clock.schedule(delay, action)
    }
}
