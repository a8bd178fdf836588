import Foundation
public import WebServiceClient

/// The service's behavior after a request of a batch has failed.
public enum BatchErrorPolicy: String, Sendable, Hashable, CaseIterable {
    /// It processes the other requests: `continue-on-error` (Protocol 4.01, section 8.2.8.3). Version 2 has no such preference.
    case proceed
    /// It stops. The requests after the failed one throw an error whose cause is ``ODataBatchError/notProcessed``. Version 2 has no way to
    /// ask for it, so ``ODataClient/send(_:afterError:)`` refuses it there.
    case stop
}

// Batches (Protocol 4.01, section 11.7; JSON Format 4.01, section 19).
extension ODataClient {
    /// Sends a batch and returns the results of its parts.
    ///
    ///     let answer = try await client.send(batch)
    ///     let ada = try answer[user]
    ///
    /// If the batch's headers have the preference `respond-async`, the service may carry out the batch asynchronously: its monitor is then
    /// polled, as ``ODataJob/value`` does, until it has the answer. Cancelling the task ends the wait, not the batch.
    ///
    /// ``batching`` sets the form of the batch. Credentials, a CSRF token and everything that interceptors add belong to the batch request;
    /// interceptors, retries and the queue see it as one call. It is repeated after a failure only if all its requests read, or if it is a
    /// repeatable request: see ``sendsRepeatableRequests``. If the service refuses single reads for the moment (429, 503), they are sent
    /// again in another batch, as the client's
    /// ``/WebServiceClient/WebServiceClient/Configuration/retry`` permits; changes aren't. A batch with more requests than the service's
    /// limit is sent as several. If one of these fails as a whole, the rest aren't sent. With `.stop`, the rest aren't sent either if any
    /// request failed or has no certain answer.
    ///
    /// - Parameter policy: The service's behavior after an error. The default is the same in both formats, although the formats' own
    ///   defaults differ. Version 2 has no such preference: its services decide, and `.stop` is refused.
    /// - Returns: The results. A request that failed throws its own error when its result is read.
    /// - Throws: `ServiceError` if a request can't be written, and then nothing is sent; or if the first batch fails as a whole.
    ///   `CancellationError` when the task was cancelled. After these two it is unknown which changes were made.
    public func send(_ batch: ODataBatch, afterError policy: BatchErrorPolicy = .proceed) async throws -> ODataBatchAnswer {
        guard policy == .proceed || printer.version > .v2 else {
            throw error(
                ODataOperation(route: "$batch"), .binding, .batch,
                "Version 2 has no preference that stops a service after an error: use .proceed, or send what depends on earlier "
                    + "requests in a separate batch.")
        }
        let form = try batchForm(batch.headers)
        let plan = try await BatchPlan(batch, of: self, form)
        var results: [UInt64: Result<any Sendable, ServiceError>] = plan.results.mapValues { .success($0) }
        var verdicts: [Int: BatchVerdict] = [:]
        // Whether the remaining batches aren't sent.
        var isOver = false
        let batches = try plan.batches(upTo: batching.limit)
        guard batches.count < 2 || batch.headers[Repeatability.requestID] == nil else {
            throw error(
                ODataOperation(route: "$batch"), .binding, .batch,
                "The batch is sent as \(batches.count), which can't have the same Repeatability-Request-ID: send fewer requests, or let "
                    + "the client set it (sendsRepeatableRequests).")
        }
        for numbers in batches {
            if isOver {
                for number in numbers { verdicts[number] = .notProcessed }
                continue
            }
            do {
                let exchange = try await exchange(plan, numbers, form, batch.headers, policy)
                while let (number, verdict) = try await exchange.next() { verdicts[number] = verdict }
            } catch let error as ServiceError where error.kind != .cancelled && !Task.isCancelled {
                if numbers.lowerBound == 1 { throw error }
                isOver = true
                for number in numbers where verdicts[number] == nil { results[plan.items[number - 1].part.token] = .failure(error) }
            }
            // The service stops only within a batch.
            if policy == .stop, numbers.contains(where: { verdicts[$0]?.isSuccess != true }) { isOver = true }
        }
        // After `.stop`, a read that is sent again would come after requests that weren't processed.
        if policy == .proceed, !isOver { try await repeatReads(of: plan, form, batch.headers, &verdicts) }
        let reading = BatchReading(client: self, scope: plan.scope, verdicts: verdicts)
        for item in plan.items where results[item.part.token] == nil {
            results[item.part.token] = try await reading.result(of: item, plan.items)
        }
        return ODataBatchAnswer(results: results, order: batch.parts.map(\.token))
    }

    /// Sends the requests that a closure adds to a batch, and returns the result of each.
    ///
    ///     let (user, order) = try await client.batch { batch in
    ///         (batch.fetch(FetchRequest<User>().key("ada")), batch.create(draft, in: FetchRequest<Order>()))
    ///     }
    ///     print(try user.get().name)
    ///
    /// - Throws: The errors of ``send(_:afterError:)``, and those of the closure.
    public func batch<each Value: Sendable>(
        afterError policy: BatchErrorPolicy = .proceed, _ add: (inout ODataBatch) throws -> (repeat BatchPart<each Value>)
    ) async throws -> (repeat Result<each Value, ServiceError>) {
        var batch = ODataBatch()
        let parts = try add(&batch)
        let answer = try await send(batch, afterError: policy)
        return (repeat answer.result(of: each parts))
    }

    /// Reads several resources by one batch.
    ///
    ///     let (ada, orders) = try await client.fetch(FetchRequest<User>().key("ada"), FetchRequest<Order>().top(5))
    ///
    /// - Throws: The error of the first read that failed, or those of ``send(_:afterError:)``.
    public func fetch<First: BatchReadable, Second: BatchReadable, each Other: BatchReadable>(
        _ first: First, _ second: Second, _ others: repeat each Other
    ) async throws -> (First.Result, Second.Result, repeat (each Other).Result) {
        var batch = ODataBatch()
        let one = first.add(to: &batch)
        let two = second.add(to: &batch)
        let rest = (repeat (each others).add(to: &batch))
        let answer = try await send(batch)
        return (try answer[one], try answer[two], repeat try answer[each rest])
    }

    // MARK: Exchanges

    /// Returns the form of this service's batches.
    func batchForm(_ headers: HTTPFields) throws -> BatchForm {
        let operation = ODataOperation(route: "$batch")
        let settings = batching
        let format = settings.format(for: printer.version)
        guard format != .json || printer.version != .v2 else {
            throw error(
                operation, .binding, .batch, "Version 2 has no batches in JSON: set batching.format to .multipart, or another version.")
        }
        let call = try batchCall(RequestBody(Data()), BatchWriter(isJSON: format == .json), headers, .proceed, isSafe: true)
        var common = try call.headers()
        // A part with a body states its type in any case.
        common[.contentType] = nil
        for name in BatchForm.repeated(in: printer.version) { common[name] = nil }
        return BatchForm(
            isJSON: format == .json, urls: settings.urls, statesLengths: settings.statesLengths, groupsAreAtomic: settings.groupsAreAtomic,
            changesAreInChangeSets: printer.version == .v2,
            root: String(try rootURL(operation).absoluteString.prefix { $0 != "?" }),
            common: common)
    }

    /// Sends one batch of a plan.
    private func exchange(
        _ plan: BatchPlan, _ numbers: ClosedRange<Int>, _ form: BatchForm, _ headers: HTTPFields, _ policy: BatchErrorPolicy
    ) async throws -> BatchExchange {
        var writer = BatchWriter(isJSON: form.isJSON, statesLengths: form.statesLengths)
        var body = Data()
        for unit in plan.units(in: numbers) {
            do throws(ODataBatchError) {
                body.append(try writer.unit(unit.map { plan.items[$0 - 1].request }))
            } catch {
                throw self.error(ODataOperation(route: "$batch"), .binding, .batch, error.description, cause: error)
            }
        }
        body.append(writer.end())
        let matcher = BatchMatcher(
            numbers: numbers, groups: plan.groups(in: numbers), isJSON: form.isJSON, stops: policy == .stop)
        let isSafe = numbers.allSatisfy { plan.items[$0 - 1].request.method == "GET" }
        return try await exchange(RequestBody(body), writer, headers, policy, isSafe: isSafe, matcher)
    }

    /// Sends a batch's body.
    func exchange(
        _ body: RequestBody, _ writer: BatchWriter, _ headers: HTTPFields, _ policy: BatchErrorPolicy, isSafe: Bool, _ matcher: BatchMatcher
    ) async throws -> BatchExchange {
        let operation = ODataOperation(route: "$batch")
        let isRepeatable = !isSafe && (sendsRepeatableRequests || headers[Repeatability.requestID] != nil)
        let accept = Self.batchType(isJSON: writer.isJSON)
        let source: BatchSource
        do {
            source = try await batchSource(
                try batchCall(body, writer, headers, policy, isSafe: isSafe), operation, isRepeatable: isRepeatable,
                waiting: headers.preferAsynchronous
                    ? { try await self.batchSource(after: $0, at: $1, operation, accept: accept) } : nil)
        } catch var error as ServiceError where error.stage == .status && (error.status == 415 || error.status == 406) {
            if printer.version > .v2 {
                let other = writer.isJSON ? ".multipart" : ".json"
                error.message += " If the service accepts batches only in the other format, set batching.format to \(other)."
            }
            throw error
        }
        return try BatchExchange(source, matcher, client: self, operation: operation) { link, page in
            try await self.batchSource(self.continuation(link, from: page, operation), operation, waiting: nil)
        }
    }

    /// Returns the call for the rest of a JSON answer.
    private func continuation(_ link: String, from page: URL, _ operation: ODataOperation) throws -> ServiceCall {
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: nil, page: page)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(page), policy: foreignLinks)
            return call(operation, link: url, isForeign: isForeign)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
    }

    /// Returns the media type of a batch's answer.
    private static func batchType(isJSON: Bool) -> String { isJSON ? "application/json" : "multipart/mixed" }

    /// Returns the call of a batch.
    ///
    /// - Parameter isSafe: Whether the batch only reads. Otherwise it is never repeated, whatever the client's policy, unless it is sent as
    ///   a repeatable request.
    private func batchCall(
        _ body: RequestBody, _ writer: BatchWriter, _ headers: HTTPFields, _ policy: BatchErrorPolicy, isSafe: Bool
    ) throws -> ServiceCall {
        let operation = ODataOperation(route: "$batch")
        var body = body
        body.contentType = writer.contentType
        body.contentTypeIsBinding = true
        var call = self.call(operation, to: "$batch", method: .post, at: .raw).body(body)
        call = call.header(.accept, Self.batchType(isJSON: writer.isJSON))
        if printer.version == .v2 {
            if !writer.isJSON { call = call.header("MIME-Version", "1.0") }
        } else {
            call = call.header("OData-Version", printer.version.rawValue)
        }
        // Reads need no identifier. Those that are sent again are another batch, which must not have that of the first one.
        let omitted: [HTTPFields.Name] = isSafe ? ["Prefer", Repeatability.requestID, Repeatability.firstSent] : ["Prefer"]
        for field in headers where !omitted.contains(field.name) { call = call.header(field.name, headers[field.name]) }
        var preferences = headers[values: "Prefer"]
        if let preference = Self.preference(policy, isJSON: writer.isJSON, printer.version) { preferences.append(preference) }
        if isSafe {
            call = call.idempotent()
        } else if sendsRepeatableRequests || headers[Repeatability.requestID] != nil {
            call = repeatable(call.idempotent(false), headers)
        } else {
            call = call.idempotent(false).retry(.never)
        }
        return preferring(call, preferences)
    }

    /// Returns the preference that states a policy (Protocol 4.01, section 8.2.8.3). It is stated even if it is the format's default,
    /// because some services have another default: Business Central stops in JSON.
    private static func preference(_ policy: BatchErrorPolicy, isJSON: Bool, _ version: ODataVersion) -> String? {
        guard version > .v2 else { return nil }
        let name = version > .v4 ? "continue-on-error" : "odata.continue-on-error"
        switch policy {
        case .proceed: return name
        // In 4.0 the preference has no value, and its absence means this policy. Version 4.01 introduced batches in JSON.
        case .stop: return version > .v4 || isJSON ? name + "=false" : nil
        }
    }
}

/// A request for a read that can be part of a batch: ``EntityRequest`` and ``FetchRequest``.
public protocol BatchReadable: Sendable {
    /// The type of the result.
    associatedtype Result: Sendable
    /// Adds the read to a batch.
    func add(to batch: inout ODataBatch) -> BatchPart<Result>
}

extension EntityRequest: BatchReadable {
    /// Adds the read of the entity.
    public func add(to batch: inout ODataBatch) -> BatchPart<Entity> { batch.fetch(self) }
}

extension FetchRequest: BatchReadable {
    /// Adds the read of all entities. Only the first page is part of the batch; the others are read one by one afterwards.
    public func add(to batch: inout ODataBatch) -> BatchPart<[Entity]> { batch.fetch(self) }
}
