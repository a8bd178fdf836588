import Foundation
public import WebServiceClient

// Asynchronous requests (Protocol 4.01, sections 8.2.8.8 and 11.6). Services may answer at once: the job has then finished.
extension ODataClient {
    /// Starts a query whose first page the service may provide later.
    ///
    /// - Parameter wait: The time in which the service should rather answer at once; it is rounded up to whole seconds.
    /// - Returns: The job. Its value is the first page; ``page(after:of:)`` fetches the next ones.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Entity>(_ request: FetchRequest<Entity>, waiting wait: Duration? = nil) async throws -> ODataJob<ODataPage<Entity>> {
        let operation = Self.asynchronous(ODataOperation(request.query), wait)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        return try await start(paged(call(operation, to: target), operation), operation, for: .reading)
    }

    /// Starts reading one entity or another resource, which the service may provide later.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Entity>(_ request: EntityRequest<Entity>, waiting wait: Duration? = nil) async throws -> ODataJob<Entity> {
        let operation = Self.asynchronous(ODataOperation(request.query), wait)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        return try await start(call(operation, to: target, for: Entity.self), operation, for: .reading)
    }

    /// Starts a function whose result the service may provide later.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Result: Decodable & Sendable>(
        evaluating function: ODataQuery, as type: Result.Type = Result.self, waiting wait: Duration? = nil
    ) async throws -> ODataJob<Result> {
        let operation = Self.asynchronous(ODataOperation(function), wait)
        let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(function) }
        return try await start(call(operation, to: target, for: Result.self), operation, for: .reading)
    }

    /// Starts an action whose result the service may provide later. An action without a result returns `NoContent`.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Result: Decodable & Sendable>(
        invoking action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        returning type: Result.Type = Result.self, if condition: WriteCondition = .none, waiting wait: Duration? = nil
    ) async throws -> ODataJob<Result> {
        try await start(operation(action, parameters, condition), wait, for: .calling)
    }

    /// Starts creating an entity; see ``create(_:in:binding:preferring:)``.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Entity>(
        creating entity: some Encodable & Sendable, in collection: FetchRequest<Entity>, binding: [EntityBinding] = [],
        preferring preference: ReturnPreference? = nil, waiting wait: Duration? = nil
    ) async throws -> ODataJob<ODataEntity<Entity>?> {
        var operation = try operation(.creation, .post, collection.resource, for: collection.options, answers: true)
        operation.body = try body(of: entity, binding, collection.resource, writing: .creation, declared: Entity.self)
        operation.preference = preference
        return try await start(operation, wait, for: .changing(mustExist: false))
    }

    /// Starts an update by a draft; see ``update(_:with:if:preferring:)``. If nothing changed, no request is sent, and the result is `nil`.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Entity>(
        updating request: EntityRequest<Entity>, with draft: EntityDraft<Entity>, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil, waiting wait: Duration? = nil
    ) async throws -> ODataJob<ODataEntity<Entity>?> {
        guard let operation = try operation(updating: request, with: draft, if: condition, preferring: preference) else {
            let name = ODataOperation(request.query)
            let response = ServiceResponse<ODataEntity<Entity>?>(
                value: nil, status: 204, headers: [:], url: try rootURL(name), duration: .zero)
            return ODataJob(self, name, .reading, finished: response)
        }
        return try await start(operation, wait, for: .changing(mustExist: operation.mustExist(printer.version)))
    }

    /// Starts deleting an entity; see ``delete(_:if:)``.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func start<Entity>(
        deleting request: EntityRequest<Entity>, if condition: WriteCondition = .none, waiting wait: Duration? = nil
    ) async throws -> ODataJob<NoContent> {
        var operation = try operation(.deletion, .delete, request.resource, for: request.options)
        operation.condition = condition
        return try await start(operation, wait, for: .changing(mustExist: operation.mustExist(printer.version)))
    }

    /// Returns the job of a ticket, for example after a restart of the program.
    ///
    /// - Parameter type: The type of the job's value.
    /// - Throws: `ServiceError`, with the cause ``ODataJobError/otherService(_:)`` if the ticket belongs to another service than the
    ///   client's.
    public func job<Value: Decodable & Sendable>(
        _ ticket: ODataJobTicket, returning type: Value.Type = Value.self
    ) throws -> ODataJob<Value> {
        let operation = ODataOperation(route: ticket.route)
        let origin = try serviceOrigin ?? Origin(rootURL(operation))
        guard let origin, origin.description == ticket.origin else {
            let cause = ODataJobError.otherService(String(ticket.origin.prefix(200)))
            throw error(operation, .binding, .job, cause.description, cause: cause)
        }
        let wait = ticket.notBefore.map { Duration.seconds(max(0, min($0.timeIntervalSince(currentDate), 3_600))) }
        let monitor = JobMonitor(
            url: ticket.monitor, isForeign: Origin(ticket.monitor) != origin, base: ticket.base, origin: origin, wait: wait,
            answeredAt: currentDate)
        return ODataJob(
            self, operation, ticket.mustExist.map { .changing(mustExist: $0) } ?? .calling,
            JobForm(place: ticket.place ?? .payload, accept: ticket.accept), try secured(monitor, operation))
    }

    private func start<Value: Decodable & Sendable>(
        _ operation: WriteOperation, _ wait: Duration?, for purpose: CallPurpose
    ) async throws -> ODataJob<Value> {
        var operation = operation
        operation.query.options.headers.append("Prefer", Self.preference(wait))
        return try await start(try call(operation, for: Value.self), ODataOperation(operation.query), for: purpose)
    }

    private func start<Value: Decodable & Sendable>(
        _ call: ServiceCall, _ operation: ODataOperation, for purpose: CallPurpose
    ) async throws -> ODataJob<Value> {
        let form = JobForm(place: ResultPlace(try call.url().absoluteString), accept: operation.headers[.accept])
        let accepted = form.accept ?? callSettings.accepted(form.place, for: Value.self)
        let response: ServiceResponse<Data>
        do {
            response = try await call.describing { $0.raw() }.header(.accept, accepted).response(Data.self)
        } catch {
            throw Self.withErrorBody(error)
        }
        try check(
            repeatabilityIn: response.headers, isExpected: isRepeatable(purpose), operation,
            response: ResponseSummary(of: response, body: response.value))
        let base = LongQueryPolicy.base(of: response.url)
        guard response.status == 202, let location = response.headers[.location] else {
            // A 202 without a monitor is an error, because there would be no result.
            let result: ServiceResponse<Value> = try decoded(
                UndecodedAnswer(response, at: base), operation, for: response.status == 202 ? .reading : purpose, form)
            return ODataJob(self, operation, purpose, finished: result)
        }
        try check(trailersOf: response, operation)
        return ODataJob(self, operation, purpose, form, try monitor(location, from: response, base: base, operation))
    }

    private static func asynchronous(_ operation: ODataOperation, _ wait: Duration?) -> ODataOperation {
        var operation = operation
        operation.headers.append("Prefer", preference(wait))
        return operation
    }

    private static func preference(_ wait: Duration?) -> String {
        guard let wait, wait > .zero else { return "respond-async" }
        let (seconds, rest) = min(wait, .seconds(86_400)).components
        return "respond-async, wait=\(seconds + (rest > 0 ? 1 : 0))"
    }
}
