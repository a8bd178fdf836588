@_exported public import ODataMetadata
public import WebServiceClient

/// A client of an OData service that sends typed queries and follows next links to the last page.
///
///     let client = ODataClient(serviceRoot: "https://api.example.com/odata")
///     let adults = try await client.fetch(FetchRequest<Person>().filter { $0.age > 21 })
///     for try await person in client.entities(matching: FetchRequest<Person>()) { … }
///
/// It supports everything that ``WebServiceClient/WebServiceClient`` does: declare actions, functions and other endpoints in the table of a
/// subclass. A subclass that overrides `defaults` modifies `super.defaults`.
///
/// `@unchecked Sendable`: a lock guards the settings; everything else is constant.
open class ODataClient: WebServiceClient, @unchecked Sendable {
    private struct Settings {
        var foreignLinks = ForeignLinkPolicy.refuse
        var printer = QueryPrinter() { didSet { calls = nil } }
        /// The types whose missing property list was reported.
        var noted: Set<ObjectIdentifier> = []
        var longQueries = LongQueryPolicy.automatic { didSet { calls = nil } }
        var types = TypeRegistry() { didSet { calls = nil } }
        var userInfo: [CodingUserInfoKey: any Sendable] = [:] { didSet { calls = nil } }
        var metadataLevel = MetadataLevel.minimal { didSet { calls = nil } }
        var asksForIEEE754Compatible = false { didSet { calls = nil } }
        var v2Bindings = V2BindingSpelling.deferred
        var tunnelsMethods = false
        var sendsRepeatableRequests = false
        var hasNotedRepeatability = false
        var maxPageSize: Int?
        var prefetchesPages = false
        var streamsPages = true
        var batching = BatchSettings()
        var readDeferral: (any ReadDeferral)?
        var writeCheck: (any WriteChecking)?
        /// What calls have in common, from these settings; `nil` until the next call needs it.
        var calls: CallSettings?

        mutating func callSettings() -> CallSettings {
            if let calls { return calls }
            let made = CallSettings(
                printer: printer, longQueries: longQueries, types: types, userInfo: userInfo, metadataLevel: metadataLevel,
                asksForIEEE754Compatible: asksForIEEE754Compatible)
            calls = made
            return made
        }
    }

    private let settings = Locked(Settings())
    /// The models of the service.
    let models = ModelCache()

    /// The headers, the JSON format and the error format of OData 4. A subclass for services of version 2 returns `.odata(.v2)`.
    open override class var defaults: EndpointDefaults { .odata() }

    /// The policy for next links and navigation links that lead to another origin. Default: `.refuse`.
    public var foreignLinks: ForeignLinkPolicy {
        get { settings.withLock { $0.foreignLinks } }
        set { settings.withLock { $0.foreignLinks = newValue } }
    }

    /// The printer of the queries. Its version determines the response version that the client requests and the format of bodies.
    public var printer: QueryPrinter {
        get { settings.withLock { $0.printer } }
        set { settings.withLock { $0.printer = newValue } }
    }

    /// The policy for queries with long URLs. Default: queries of more than 8,000 characters are posted to `/$query` if the printer's
    /// version is 4.01.
    public var longQueries: LongQueryPolicy {
        get { settings.withLock { $0.longQueries } }
        set { settings.withLock { $0.longQueries = newValue } }
    }

    /// The types that ``Polymorphic`` results are decoded as.
    public var types: TypeRegistry {
        get { settings.withLock { $0.types } }
        set { settings.withLock { $0.types = newValue } }
    }

    /// The `userInfo` for encoding and decoding entities, in queries and changes. Default: empty. Key strategies aren't supported: coding
    /// keys define the names, and queries use them too.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0.userInfo } }
        set { settings.withLock { $0.userInfo = newValue } }
    }

    /// The amount of metadata that queries request, in version 4. Default: `.minimal`.
    public var metadataLevel: MetadataLevel {
        get { settings.withLock { $0.metadataLevel } }
        set { settings.withLock { $0.metadataLevel = newValue } }
    }

    /// A Boolean value that determines whether `Int64` and `Decimal` are requested and written as strings, in version 4. Default: `false`.
    ///
    /// This library reads numbers of any length exactly, so this is only for services that lose digits when they write numbers. Both
    /// spellings are always read, because a service may ignore the request.
    public var asksForIEEE754Compatible: Bool {
        get { settings.withLock { $0.asksForIEEE754Compatible } }
        set { settings.withLock { $0.asksForIEEE754Compatible = newValue } }
    }

    /// The spelling of links to existing entities in changes of version 2. Default: deferred links, which Olingo accepts. Use
    /// ``V2BindingSpelling/metadata`` for services that ignore these.
    public var v2Bindings: V2BindingSpelling {
        get { settings.withLock { $0.v2Bindings } }
        set { settings.withLock { $0.v2Bindings = newValue } }
    }

    /// A Boolean value that determines whether PATCH, PUT, MERGE and DELETE are sent as POST, with the method in the field `X-HTTP-Method`
    /// (OData 2.0, Operations, "Method Tunneling through POST"). Default: `false`.
    ///
    /// For networks that let only GET and POST through, and services that support it, as those of versions 2 and 3 do. Requests inside a
    /// batch keep their methods, since networks don't see them. A call that is sent in this way is repeated as a POST is.
    public var tunnelsMethods: Bool {
        get { settings.withLock { $0.tunnelsMethods } }
        set { settings.withLock { $0.tunnelsMethods = newValue } }
    }

    /// A Boolean value that determines whether changes, actions and batches with changes are sent as repeatable requests, with an
    /// identifier and the time of the first attempt (OASIS Repeatable Requests 1.0). Default: `false`.
    ///
    /// All attempts of a call have the same identifier, by which the service recognizes them and performs the change once. The client's
    /// ``/WebServiceClient/WebServiceClient/Configuration/retry`` then repeats a change as it repeats a read, unless its `unsafeMethods`
    /// are `.never`. Set it only for services that support such requests: others perform a repeated change twice. A service that says that
    /// it doesn't accept them fails the call with ``ODataRepeatabilityError``; one that doesn't say anything is reported once.
    ///
    /// To keep an identifier over restarts of the program, set `Repeatability-Request-ID` and `Repeatability-First-Sent` with the
    /// request's `header(_:_:)`, or in the headers of a batch. These requests are repeatable whatever this setting is.
    public var sendsRepeatableRequests: Bool {
        get { settings.withLock { $0.sendsRepeatableRequests } }
        set { settings.withLock { $0.sendsRepeatableRequests = newValue } }
    }

    /// The preferred maximum number of entities per page (`maxpagesize`: Protocol 4.01, section 8.2.8.4). The service may send fewer or
    /// more. Version 2 has no such preference. `nil`, the default, and values below 1 leave the size to the service.
    public var maxPageSize: Int? {
        get { settings.withLock { $0.maxPageSize } }
        set { settings.withLock { $0.maxPageSize = newValue } }
    }

    /// A Boolean value that determines whether the next page is fetched while the current one is in use. Default: `false`.
    ///
    /// The time of the service for a page and the time of the program for its entities then overlap. Each page is read as a whole, also by
    /// ``entities(matching:)``, so two pages are in memory. A prefetched page that isn't requested is cancelled.
    public var prefetchesPages: Bool {
        get { settings.withLock { $0.prefetchesPages } }
        set { settings.withLock { $0.prefetchesPages = newValue } }
    }

    /// A Boolean value that determines whether ``entities(matching:)`` and ``entities(of:)`` return a page's entities while it arrives.
    /// Default: `true`.
    ///
    /// A streamed page keeps its connection, and counts against the call's total time, until its last entity is read. Set `false` if the
    /// program spends much time on each entity or calls the service for each: one whole page is then in memory, and no call is in flight
    /// while its entities are in use.
    public var streamsPages: Bool {
        get { settings.withLock { $0.streamsPages } }
        set { settings.withLock { $0.streamsPages = newValue } }
    }

    /// The form of this service's batches: see ``send(_:afterError:)``.
    public var batching: BatchSettings {
        get { settings.withLock { $0.batching } }
        set { settings.withLock { $0.batching = newValue } }
    }

    /// Sends reads together; `nil` if each is sent on its own.
    var readDeferral: (any ReadDeferral)? {
        get { settings.withLock { $0.readDeferral } }
        set { settings.withLock { $0.readDeferral = newValue } }
    }

    /// Compares changes with the service's model; `nil` if they aren't compared.
    var writeCheck: (any WriteChecking)? {
        get { settings.withLock { $0.writeCheck } }
        set { settings.withLock { $0.writeCheck = newValue } }
    }

    /// The settings that all calls share, from the current settings.
    var callSettings: CallSettings { settings.withLock { $0.callSettings() } }

    // MARK: Entities

    /// Returns all entities of a query, following next links to the end or up to the query's `top`.
    ///
    /// All entities are in memory at once; ``entities(matching:)`` returns them one by one.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. If a page fails, no entities are returned.
    public func fetch<Entity>(_ request: FetchRequest<Entity>) async throws -> [Entity] {
        var entities: [Entity] = []
        for try await page in pages(matching: request) { entities += page.entities }
        return entities
    }

    /// Returns the entities of a query one by one, over all pages. A page is fetched after all entities of the previous one are read.
    ///
    /// A failure is thrown after the entities of the previous pages and, if ``streamsPages`` is set, after those already received of its
    /// own page.
    public func entities<Entity>(matching request: FetchRequest<Entity>) -> ODataEntities<Entity> {
        ODataEntities(pages: pages(matching: request))
    }

    /// Returns one entity, or another resource with one value, such as a property, a singleton or a function's result.
    ///
    /// A `String` or a `Data` is read as a value inside the JSON, like other types: as `Edm.String`, and as `Edm.Binary` in base64 or
    /// base64url. For paths that end with `/$value`, `/$count` or `/$metadata` it is the whole body; a `Data` is the whole body also if the
    /// response isn't JSON, as with stream properties. An optional is `nil` if the service returns null.
    ///
    /// - Throws: `ServiceError`, also when the entity doesn't exist, or `CancellationError` when the task was cancelled.
    public func fetch<Entity>(_ request: EntityRequest<Entity>) async throws -> Entity {
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        return try await response(call(operation, to: target, for: Entity.self), operation).value
    }

    /// Returns one entity, or `nil` if it doesn't exist: the service answers 404 (Not Found) or, for an empty relation or a null property,
    /// 204 (No Content) or a null in JSON, such as `{"value":null}`, `{"@odata.null":true}` or V2's `{"d":null}`.
    ///
    /// A 404 with an HTML page is still an error: it comes from a proxy, or the service root is wrong.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func fetchIfPresent<Entity>(_ request: EntityRequest<Entity>) async throws -> Entity? {
        try await ifPresent(unlessMissing: true) { try await self.fetch(request) }
    }

    /// Returns one entity with its metadata, including an entity tag that is only in the response's headers.
    ///
    /// All properties are fetched unless the request selects some, because undeclared properties are kept.
    ///
    /// - Throws: `ServiceError`, also when the entity doesn't exist, or `CancellationError` when the task was cancelled.
    public func entity<Entity>(_ request: EntityRequest<Entity>) async throws -> ODataEntity<Entity> {
        let request = request.withMetadata()
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        let response: ServiceResponse<ODataEntity<Entity>> = try await self.response(call(operation, to: target), operation)
        var entity = response.value
        if entity.metadata.etag == nil { entity.metadata.etag = response.headers["ETag"] }
        return entity
    }

    /// Returns one entity with its metadata if the service has another version of it than the given one, or `nil` if it is unchanged
    /// (`If-None-Match`; Protocol 4.01, section 8.2.5).
    ///
    /// - Parameter etag: The version that is known: ``EntityMetadata/etag``. `nil` reads the entity in any case.
    /// - Throws: `ServiceError`, also when the entity doesn't exist, or `CancellationError` when the task was cancelled.
    public func entity<Entity>(
        _ request: EntityRequest<Entity>, unlessVersion etag: String?
    ) async throws -> ODataEntity<Entity>? {
        guard let etag else { return try await entity(request) }
        let request = request.withMetadata().header("If-None-Match", etag)
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        // GET, because a condition has no meaning for a posted query.
        let response: ServiceResponse<ODataEntity<Entity>?> = try await self.response(
            call(operation, to: target, method: .get), operation, for: .readingIfChanged)
        guard var entity = response.value else {
            guard response.status == 304 else {
                throw error(
                    operation, .decoding, .emptyBody, "The service answered with status \(response.status) and without an entity.",
                    response: ResponseSummary(of: response))
            }
            return nil
        }
        if entity.metadata.etag == nil { entity.metadata.etag = response.headers["ETag"] }
        return entity
    }

    // MARK: Pages

    /// Returns the pages of a query, each fetched when it is requested.
    public func pages<Entity>(matching request: FetchRequest<Entity>) -> ODataPages<Entity> {
        let operation = ODataOperation(request.query)
        return ODataPages(
            foreignLinks: foreignLinks, limit: request.options.top, origin: serviceOrigin, linkRoot: linkRoot, prefetches: prefetchesPages,
            streams: streamsPages,
            fetch: { step in
                let response: ServiceResponse<ODataPage<Entity>> = try await self.response(
                    self.call(step, of: request, operation), operation)
                return (response.value, LongQueryPolicy.base(of: response.url))
            },
            open: { .stream(try await self.pageSource(self.call($0, of: request, operation), operation)) },
            failure: { self.error(operation, .binding, .link, $0.description, cause: $0) })
    }

    /// Returns the first page of a query, with its count and the link to the next page.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func page<Entity>(_ request: FetchRequest<Entity>) async throws -> ODataPage<Entity> {
        let operation = ODataOperation(request.query)
        return try await response(call(.first, of: request, operation), operation).value
    }

    /// Returns the page after a page of a query, or `nil` after the last one. To resume at a stored link, pass
    /// `ODataPage(entities: [], nextLink: link)`.
    ///
    /// The query's `top` isn't enforced here.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func page<Entity>(after page: ODataPage<Entity>, of request: FetchRequest<Entity>) async throws -> ODataPage<Entity>? {
        guard let link = page.nextLink else { return nil }
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        // The URL after redirects, if it is known.
        let base = try page.linkBase.root?.page ?? LongQueryPolicy.base(of: call(operation, to: target).url())
        let next: ServiceCall
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: page.context, page: base, root: linkRoot)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(base), policy: foreignLinks)
            next = paged(call(operation, link: url, isForeign: isForeign), operation)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
        return try await (response(next, operation) as ServiceResponse<ODataPage<Entity>>).value
    }

    /// Returns the call for a page of a query.
    private func call<Entity>(_ step: PageStep, of request: FetchRequest<Entity>, _ operation: ODataOperation) throws -> ServiceCall {
        switch step {
        case .first:
            let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
            noteSelection(of: request)
            return paged(call(operation, to: target), operation)
        case .link(let url, let isForeign):
            return paged(call(operation, link: url, isForeign: isForeign), operation)
        }
    }

    /// Reports, once per type, that all properties are fetched because the type's properties are unknown. Skips `DynamicEntity`, which
    /// always needs all.
    private func noteSelection<Entity>(of request: FetchRequest<Entity>) {
        guard Entity.self != DynamicEntity.self, let note = request.selectionNote,
            settings.withLock({ $0.noted.insert(ObjectIdentifier(Entity.self)).inserted })
        else { return }
        configuration.diagnostics.report(.init(.notice, note))
    }

    /// Reports, once, that it is unknown whether the service accepts repeatable requests.
    func noteUnconfirmedRepeatability(_ operation: ODataOperation) {
        let isNew = settings.withLock { settings in
            defer { settings.hasNotedRepeatability = true }
            return !settings.hasNotedRepeatability
        }
        guard isNew else { return }
        configuration.diagnostics.report(
            .init(
                .warning,
                "the service answered \(operation.route) without Repeatability-Result: if it doesn't support repeatable requests, it performs "
                    + "repeated changes twice; set sendsRepeatableRequests to false for it"))
    }
}

// The version of a response (Protocol 4.01, section 8.1.5).
extension ODataClient {
    /// Rejects a response in a later version than this library knows, because it may have another format. Known versions are detected by
    /// their format, whichever was requested.
    ///
    /// - Throws: `ServiceError` of the kind ``/WebServiceClient/ServiceError/Kind/version``. A missing or malformed version header isn't an
    ///   error.
    func check(versionOf headers: HTTPFields, _ operation: ODataOperation, response: @autoclosure () -> ResponseSummary) throws {
        guard let text = headers["OData-Version"] ?? headers["DataServiceVersion"], let version = ProtocolVersion(text),
            version > .latestKnown
        else { return }
        throw error(
            operation, .status, .version,
            "The service answered in version \(text.prefix(20)) of OData, and 4.01 is the latest that this library reads; it was asked for "
                + "\(printer.version.rawValue) at most.", response: response())
    }
}

/// The amount of metadata in a response (JSON Format, section 3.1).
public enum MetadataLevel: String, Sendable, Hashable, CaseIterable {
    /// Only next links and counts.
    case none
    /// Only metadata that a client can't derive by convention.
    case minimal
    /// All metadata: types, links and operations of every entity.
    case full
}
