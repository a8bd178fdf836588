// The modifiers of descriptors, each of which returns a changed copy.
extension EndpointDescriptor {
    // MARK: Request

    /// Adds the fields of an argument as query items: a struct's properties by their wire names, a dictionary's entries. An OData query,
    /// such as a `FetchRequest`, adds its options; the query's path must be the endpoint's.
    public func query(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.query.append(.reflected(argument)) }
    }

    /// Adds a query item from an argument: several for an array, by the array strategy, and none for `nil`.
    ///
    ///     "tasks(fields:filter:)": .get("/tasks").query("opt_fields", .argument(0), arrays: .comma).query("q", .argument(1), as: .json)
    ///
    /// - Parameters:
    ///   - arrays: How a list becomes items; `nil` for the endpoint's strategy.
    ///   - objects: How a structure becomes items.
    ///   - format: Whether the value is a JSON text.
    ///   - keepingReserved: Whether the value keeps reserved characters (RFC 3986 §2.2) except `&`, `#`, `+`, `[` and `]`, which would end
    ///     the item or change its meaning.
    public func query(
        _ name: String, _ argument: EndpointArgument, arrays: FieldReflection.ArrayStrategy? = nil,
        objects: FieldReflection.ObjectStrategy? = nil, as format: ArgumentFormat = .fields, keepingReserved: Bool = false
    ) -> EndpointDescriptor {
        let style = ArgumentStyle(format: format, arrays: arrays, objects: objects, keepsReserved: keepingReserved)
        return with { $0.query.append(.named(name, argument, style)) }
    }

    /// Adds query items whose values are templates, such as `["state": "open", "q": "%%0%%"]`. A pair with a `nil` argument is omitted.
    public func query(_ items: KeyValuePairs<String, String>) -> EndpointDescriptor {
        with { for (name, value) in items { $0.query.append(.template(name: name, value: value)) } }
    }

    /// Sets headers whose values are templates. They override the headers of the class and the client. A header with a `nil` argument is
    /// omitted.
    public func headers(_ headers: KeyValuePairs<HTTPFields.Name, String>) -> EndpointDescriptor {
        with { for (name, value) in headers { $0.headers.append(.template(name, value)) } }
    }

    /// Sets a header whose value is a template.
    public func header(_ name: HTTPFields.Name, _ value: String) -> EndpointDescriptor {
        with { $0.headers.append(.template(name, value)) }
    }

    /// Sets a header for each field of an argument.
    public func headers(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.headers.append(.reflected(argument)) }
    }

    /// Makes an argument the body, for any method except HEAD and TRACE; a GET also needs ``allowingBody()``. By default, the body of POST,
    /// PUT and PATCH is the only unused argument.
    public func body(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.body = .argument(argument) }
    }

    /// Allows a GET to have a body, for services that use one for searches, and makes the only unused argument the body of any
    /// method except HEAD and TRACE.
    ///
    ///     "search(query:)": .get("/products/_search").allowingBody()
    ///
    /// RFC 9110 §9.3.1 gives such a body no meaning: caches, proxies and servers may drop it or refuse the request. If the transport
    /// doesn't send one, the client fails before its first call; see ``TransportCapabilities/bodiesWithGET``.
    public func allowingBody() -> EndpointDescriptor {
        with {
            $0.allowsBody = true
            if $0.method == .get { $0.settings.capabilities.insert(.bodiesWithGET) }
        }
    }

    /// Sends no body, even with POST, PUT and PATCH.
    public func withoutBody() -> EndpointDescriptor {
        with { $0.body = .none }
    }

    /// Writes the body with this serializer and by default reads the response with it.
    public func serializer(_ serializer: any SerializationDelegate) -> EndpointDescriptor {
        with { $0.settings.serializer = serializer }
    }

    /// Sets how arrays in queries, forms and headers are written. Headers support only the comma; with other strategies each value is a
    /// separate field. A ``FormSerializer`` with explicit rules isn't affected.
    public func arrays(_ strategy: FieldReflection.ArrayStrategy) -> EndpointDescriptor {
        with { $0.settings.arrays = strategy }
    }

    /// Sets how arguments become query items and form fields. What isn't given remains as the class, the client or the client's JSON
    /// serializer specifies. A ``FormSerializer`` with explicit rules isn't affected.
    ///
    ///     "events(filter:)": .get("/events").query(.argument(0)).fields(keys: .snakeCase, dates: .seconds)
    ///
    /// - Parameters:
    ///   - keys: How names of properties become names of fields. Names in the descriptor, labels and keys of dictionaries remain.
    ///   - dates: How dates are written in fields.
    ///   - nesting: How nested values are named.
    ///   - missing: How `nil` is written.
    public func fields(
        keys: FieldReflection.KeyStrategy? = nil, dates: FieldReflection.DateStrategy? = nil,
        nesting: FieldReflection.NestingStrategy? = nil, missing: FieldReflection.NilStrategy? = nil
    ) -> EndpointDescriptor {
        with {
            if let keys { $0.settings.attributes.set(keys) }
            if let dates { $0.settings.attributes.set(dates) }
            if let nesting { $0.settings.attributes.set(nesting) }
            if let missing { $0.settings.attributes.set(missing) }
        }
    }

    /// Builds the URL with this builder.
    public func urlBuilder(_ builder: any URLBuilder) -> EndpointDescriptor {
        with { $0.settings.urlBuilder = builder }
    }

    /// Ignores the arguments with these labels: closures such as `prepare`, which the method passes to `call` itself.
    public func ignoring(_ labels: String...) -> EndpointDescriptor {
        with { $0.ignored.formUnion(labels) }
    }

    /// Compresses the request's body: see ``BodyCompression``. For services that document the coding.
    ///
    /// - Parameter bytes: The largest number of bytes that isn't compressed.
    public func compressed(_ coding: ContentCoding, above bytes: Int = 1_024) -> EndpointDescriptor {
        attribute(BodyCompression(coding, above: bytes))
    }

    /// Lets the server refuse the request before its body is sent, with `Expect: 100-continue`: see ``ContinueExpectation``.
    ///
    /// - Parameter bytes: The largest number of bytes that is sent without waiting.
    public func expectingContinue(above bytes: Int64 = 1 << 20) -> EndpointDescriptor {
        attribute(ContinueExpectation(above: bytes))
    }

    /// Sends the digest of the request's body (RFC 9530): see ``SentDigest``.
    public func sendingDigest(
        _ algorithms: ContentDigest.Algorithm..., in field: ContentDigest.Field = .content
    ) -> EndpointDescriptor {
        attribute(SentDigest(algorithms.isEmpty ? [.sha256] : algorithms, in: field))
    }

    // MARK: Response

    /// Compares the response's body with the digests in its fields (RFC 9530): see ``DigestVerification``.
    ///
    /// - Parameter wanted: The algorithms to ask for with `Want-Content-Digest`, the preferred one first.
    public func verifyingDigests(
        _ requirement: DigestVerification.Requirement = .ifPresent, wanting wanted: [ContentDigest.Algorithm] = []
    ) -> EndpointDescriptor {
        attribute(DigestVerification(requirement, wanting: wanted))
    }

    /// Compares the response's body with a known SHA-256, in hexadecimal digits or base64: see ``ExpectedDigest``. For a digest that
    /// differs per call, use `client.with(.expectedDigest(sha256: …))`.
    public func expectingDigest(sha256 text: String) -> EndpointDescriptor {
        attribute(ExpectedDigest(.sha256, text: text))
    }

    /// Compares the response's body with a known SHA-512, in hexadecimal digits or base64.
    public func expectingDigest(sha512 text: String) -> EndpointDescriptor {
        attribute(ExpectedDigest(.sha512, text: text))
    }

    /// Sets the statuses that count as success, overriding the statuses of the class and the client.
    public func accepting(_ statuses: StatusSet) -> EndpointDescriptor {
        with {
            $0.settings.statuses = statuses
            $0.settings.moreStatuses = nil
        }
    }

    /// Adds statuses that count as success.
    public func alsoAccepting(_ statuses: StatusSet) -> EndpointDescriptor {
        with { $0.settings.moreStatuses = $0.settings.moreStatuses?.union(statuses) ?? statuses }
    }

    /// Reads the value at a place inside the payload: wire names separated by dots, and numbers for array indices.
    public func decoding(at root: String) -> EndpointDescriptor {
        decoding(at: EndpointSettings.components(of: root))
    }

    /// Reads the value at a place inside the payload, given as separate names, which may contain dots.
    public func decoding(at names: [String]) -> EndpointDescriptor {
        with { $0.root = names }
    }

    /// Reads the response with this parser, regardless of its `Content-Type`.
    public func decoding(with parser: any SerializationDelegate) -> EndpointDescriptor {
        with { $0.settings.parsing = .forced(parser) }
    }

    /// Disables parsing: the result is the unchanged bytes, or text, of the body.
    public func raw() -> EndpointDescriptor {
        with { $0.settings.parsing = .off }
    }

    /// Sets the handler that decides what a finished exchange means, overriding the handlers of the class and the client.
    public func errorHandler(_ handler: any ErrorHandler) -> EndpointDescriptor {
        with { $0.settings.errorHandler = handler }
    }

    /// Sets the maximum number of response body bytes that are read into memory.
    public func bodyLimit(_ bytes: Int) -> EndpointDescriptor {
        with { $0.settings.bodyLimit = bytes }
    }

    // MARK: Transport

    /// Sets the identifier of the call's cached response, as a template: `"orders/%%0%%"`. ``ResponseCache/flush(identifier:)`` removes the
    /// response by it, and interceptors read it from the call's context. A call whose template has a `nil` argument has no identifier.
    ///
    /// Arguments are inserted unchanged: with `"%%0%%/%%1%%"`, `a/b` and `c` have the same identifier as `a` and `b/c`.
    public func cacheIdentifier(_ template: String) -> EndpointDescriptor {
        with { $0.cacheIdentifier = template }
    }

    /// Names the call, as a template: `"order/%%0%%"`. The program finds a running call by its identifier with
    /// ``WebServiceClient/WebServiceClient/call(identifier:)``, and the policy specifies what happens to a later call with the same
    /// identifier.
    ///
    ///     "search(text:)": .get("/search").query("q", .argument(0)).identifier("search")     // a new search cancels the last one
    ///     "order(id:)": .get("/orders/%%id%%").identifier("order/%%id%%", .reuse)            // one request for all callers
    ///
    /// Arguments are inserted unchanged; a call with a `nil` argument is an error. See ``CallIdentifier``.
    public func identifier(_ template: String, _ policy: CallIdentifier.Policy = .replace) -> EndpointDescriptor {
        with { $0.identifier = CallIdentifier(template, policy) }
    }

    /// Lets identical calls share one exchange while it is in flight: GET or HEAD without a body, with the same URL, header fields, trust,
    /// deadlines except the total one, body limit, idempotency key, and settings of cookies, redirects, caching, security and digests. Each
    /// caller decodes the response for itself, has its own total deadline, and can be cancelled alone; the exchange ends early when no
    /// caller waits for it any more.
    ///
    /// The response's body is read into memory, up to the call's body limit. Calls that read a stream don't share an exchange.
    public func coalesced() -> EndpointDescriptor {
        attribute(Coalescing())
    }

    /// Caches responses for a duration, whatever the server's fields say: see ``EndpointCaching/lifetime(_:)``. It applies only to
    /// GET, and only with a ``ResponseCache``.
    public func cached(for lifetime: Duration) -> EndpointDescriptor {
        attribute(EndpointCaching.lifetime(lifetime))
    }

    /// Neither stores nor reuses responses.
    public func uncached() -> EndpointDescriptor {
        attribute(EndpointCaching.off)
    }

    /// Sets tags of the stored responses, for ``ResponseCache/flush(tag:)``.
    public func cacheTags(_ tags: String...) -> EndpointDescriptor {
        with {
            var names = CacheTags()
            names.names = tags
            $0.settings.attributes.set(names)
        }
    }

    /// Sets the deadlines, overriding the deadlines of the class and the client.
    public func timeouts(_ timeouts: ServiceTimeouts) -> EndpointDescriptor {
        with {
            $0.settings.timeouts = timeouts
            $0.settings.totalTimeout = nil
        }
    }

    /// Sets the deadline of the whole call; the other deadlines remain those of the class and the client.
    public func timeout(_ total: Duration) -> EndpointDescriptor {
        with { $0.settings.totalTimeout = total }
    }

    /// Sets how redirects are handled.
    public func redirects(_ policy: RedirectPolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// Sets whether and how the call is retried.
    public func retry(_ policy: RetryPolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// States whether several requests have the same effect as one, whatever the method implies (RFC 9110 §9.2.2). Only idempotent
    /// endpoints are repeated, unless the retry policy specifies otherwise.
    public func idempotent(_ isIdempotent: Bool = true) -> EndpointDescriptor {
        attribute(Idempotence(isIdempotent))
    }

    /// Gives each call an idempotency key, a random UUID, for services that honor such keys: see ``IdempotencyKey``.
    public func idempotencyKey(
        named name: HTTPFields.Name = "Idempotency-Key", format: IdempotencyKey.Format = .bare
    ) -> EndpointDescriptor {
        attribute(IdempotencyKey(named: name, format: format))
    }

    /// Gives each call an idempotency key from its arguments, as a template: `"order-%%0%%"`. If an argument is `nil`, a key is generated.
    public func idempotencyKey(
        _ template: String, named name: HTTPFields.Name = "Idempotency-Key", format: IdempotencyKey.Format = .bare
    ) -> EndpointDescriptor {
        header(name, template).idempotencyKey(named: name, format: format)
    }

    /// States whether a person waits for the calls; such calls are retried more: see ``Solicited``.
    public func solicited(_ isSolicited: Bool = true) -> EndpointDescriptor {
        attribute(Solicited(isSolicited))
    }

    /// Sends a second request when the first has no response after a delay: see ``HedgingPolicy``. Only for safe methods.
    ///
    /// - Parameter delay: A time longer than nearly all calls take.
    public func hedged(after delay: Duration) -> EndpointDescriptor {
        attribute(HedgingPolicy.after(delay))
    }

    /// Sends a second request when the first takes longer than most earlier ones: see ``HedgingPolicy``. Only for safe methods.
    ///
    /// - Parameter percentile: The share of earlier requests that took less than the delay, such as 0.95.
    public func hedged(afterPercentile percentile: Double) -> EndpointDescriptor {
        attribute(HedgingPolicy.afterPercentile(percentile))
    }

    /// Sets when calls to an origin that keeps failing are refused, overriding the policies of the class and the client.
    /// ``CircuitBreakerPolicy/off`` exempts the endpoint.
    public func circuitBreaker(_ policy: CircuitBreakerPolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// Fails and delays requests of the endpoint in tests. It has no effect unless ``WebServiceClient/Configuration/faults`` is set.
    public func faults(_ plan: FaultPlan) -> EndpointDescriptor {
        attribute(plan)
    }

    /// Sets the call's priority in the client's queue.
    public func priority(_ priority: CallPriority) -> EndpointDescriptor {
        attribute(priority)
    }

    /// Limits how often the endpoint's requests start, with each attempt and redirect, in addition to the client's limit.
    public func rateLimited(_ limit: RateLimit) -> EndpointDescriptor {
        attribute(limit)
    }

    /// Obeys the rate limits that the service states in its responses.
    public func obeyingRateLimits(_ setting: ServiceRateLimits = ServiceRateLimits()) -> EndpointDescriptor {
        attribute(setting)
    }

    /// Waits up to a duration while the system has no network: see ``WaitingForNetwork``.
    ///
    /// - Parameter limit: The longest time for which a call waits; more than zero.
    public func waitingForNetwork(upTo limit: Duration) -> EndpointDescriptor {
        attribute(WaitingForNetwork(upTo: limit))
    }

    /// Sets whether the call uses the client's cookies.
    public func cookies(_ policy: CookiePolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// Sets the servers that the call trusts and the client's identity, replacing the whole policies of the class and the client.
    ///
    /// If the transport can't apply the policy, the client fails before its first call.
    public func trust(_ policy: TrustPolicy) -> EndpointDescriptor {
        with { $0.settings.trust = policy }
    }

    /// Adds required capabilities of the transport; if the transport lacks one, the client fails before its first call.
    public func requiring(_ capabilities: TransportCapabilities) -> EndpointDescriptor {
        with { $0.settings.capabilities.formUnion(capabilities) }
    }

    /// Sets a custom attribute, which interceptors read by its type.
    public func attribute(_ attribute: some EndpointAttribute) -> EndpointDescriptor {
        with { $0.settings.attributes.set(attribute) }
    }
}
