import Foundation
import WebServiceClient

/// Reads the values of a batch's parts from their responses, with the code that reads separate responses.
struct BatchReading: Sendable {
    let client: ODataClient
    let scope: BatchScope
    let verdicts: [Int: BatchVerdict]

    /// Returns the value or the error of a part.
    ///
    /// - Throws: Only `CancellationError`.
    func result(of item: BatchPlan.Item, _ items: [BatchPlan.Item]) async throws -> Result<any Sendable, ServiceError> {
        let part = BatchAnswering(client: client, identity: item.identity, url: url(of: item, items), scope: scope)
        guard let verdict = verdicts[item.request.number] else {
            return .failure(part.failure(.unanswered("the answer ended before it")))
        }
        guard case .groupFailed(let reply, let number?) = verdict, items.indices.contains(number - 1) else {
            return try await part.result(verdict) { try await item.part.call($0) }
        }
        // The group's error is read by the call that it belongs to.
        let failed = items[number - 1]
        let other = BatchAnswering(client: client, identity: failed.identity, url: url(of: failed, items), scope: scope)
        guard case .failure(let cause) = try await other.result(.reply(reply), { try await failed.part.call($0) }) else {
            return .failure(part.failure(.unanswered("its group failed, but a response of the group reports success")))
        }
        return .failure(part.failure(.groupFailed(cause)))
    }

    /// Returns the URL of a request after its reference to an earlier one is resolved. Relative links in the response need it.
    private func url(of item: BatchPlan.Item, _ items: [BatchPlan.Item]) -> URL {
        guard let origin = item.origin, case .reply(let reply)? = verdicts[origin.number], items.indices.contains(origin.number - 1),
            let place = reply.headers[.location] ?? reply.headers["OData-EntityId"],
            let entity = NextLink.resolved(place, against: items[origin.number - 1].url)
        else { return item.url }
        return URL(string: entity.absoluteString + origin.rest) ?? item.url
    }
}

/// Turns a verdict into a result.
struct BatchAnswering: Sendable {
    let client: ODataClient
    let identity: CallIdentity
    /// The base of relative links, if it isn't the request's own URL.
    var url: URL?
    let scope: BatchScope

    /// Returns the value or the error for a verdict.
    ///
    /// - Parameter call: The call whose response the verdict has.
    /// - Throws: Only `CancellationError`.
    func result<Value: Sendable>(
        _ verdict: BatchVerdict, _ call: @Sendable (ODataClient) async throws -> Value
    ) async throws -> Result<Value, ServiceError> {
        switch verdict {
        case .reply(let reply):
            let result = try await read(reply, call)
            guard reply.status == 424, case .failure(var error) = result else { return result }
            error.kind = .batch
            error.cause = ODataBatchError.dependencyFailed
            error.message = ODataBatchError.dependencyFailed.description
            return .failure(error)
        case .groupFailed(let reply, _):
            guard case .failure(let cause) = try await read(reply, call) else {
                return .failure(failure(.unanswered("its group failed, but a response of the group reports success")))
            }
            return .failure(failure(.groupFailed(cause)))
        case .accepted(let reply): return .failure(accepted(reply))
        case .notProcessed: return .failure(failure(.notProcessed))
        case .unanswered(let reason): return .failure(failure(.unanswered(reason)))
        case .malformed(let reason): return .failure(failure(.malformed(reason)))
        }
    }

    private func read<Value: Sendable>(
        _ reply: BatchReply, _ call: @Sendable (ODataClient) async throws -> Value
    ) async throws -> Result<Value, ServiceError> {
        do {
            return .success(
                try await BatchScope.$current.withValue(scope) {
                    try await EnclosedCall.answering(client, with: { response(reply, at: url ?? $0) }) { try await call($0) }
                })
        } catch let error as ServiceError {
            return .failure(error)
        } catch {
            if Task.isCancelled || error is CancellationError { throw error }
            // Code of the call itself, such as a declared call's, threw another error.
            return .failure(
                ServiceError(call: identity, stage: .decoding, kind: .batch, message: ServiceError.text(of: error), cause: error))
        }
    }

    /// Returns the response to a part in the form of a separate response.
    func response(_ reply: BatchReply, at url: URL) -> TransportResponse {
        TransportResponse(status: reply.status, headers: reply.headers, url: url, body: ResponseBody(reply.body))
    }

    /// Returns the error of a part whose batch the service continues asynchronously. The part's own call would take its 202 for success.
    func accepted(_ reply: BatchReply) -> ServiceError {
        let operation = ODataOperation(route: "$batch")
        let monitor = reply.headers[.location].flatMap { NextLink.resolved($0, against: (try? client.rootURL(operation)) ?? url) }
        let cause = ODataStatusError.accepted(monitor: monitor, retryAfter: reply.headers["Retry-After"].flatMap { RetryAfter($0) })
        return ServiceError(call: identity, stage: .status, kind: .status, message: cause.description, cause: cause)
    }

    /// Returns the error of a part without a response. If its group failed, the error has the group's error body, but not its status, which
    /// may be the status of another request.
    func failure(_ cause: ODataBatchError) -> ServiceError {
        var error = ServiceError(call: identity, stage: .status, kind: .batch, message: cause.description, cause: cause)
        if case .groupFailed(let reason) = cause { error.errorBody = reason.errorBody }
        return error
    }
}
