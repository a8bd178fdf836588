import Foundation
public import WebServiceClient

/// A client of an OData service: it sends queries that are values, and follows what the service answers to its end.
///
///     let client = ODataClient(serviceRoot: "https://api.example.com/odata")
///     let adults = try await client.fetch(FetchRequest<Person>().filter { $0.age > 21 })
///     for try await person in client.entities(matching: FetchRequest<Person>()) { … }
///
/// Everything that a ``WebServiceClient/WebServiceClient`` does it does as well: actions, functions and whatever else isn't a query are
/// endpoints of a subclass's table. A subclass that says more in `defaults` changes `super.defaults`.
///
/// `@unchecked Sendable`: the settings are behind a lock, and constant otherwise.
open class ODataClient: WebServiceClient, @unchecked Sendable {
    private struct Settings {
        var foreignLinks = ForeignLinkPolicy.refuse
        var printer = QueryPrinter()
        /// The types of which it was said that their properties aren't known.
        var noted: Set<ObjectIdentifier> = []
        var longQueries = LongQueryPolicy.automatic
        var types = TypeRegistry()
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        var metadataLevel = MetadataLevel.minimal
        var asksForIEEE754Compatible = false
        var v2Bindings = V2BindingSpelling.deferred
        var maxPageSize: Int?
        var prefetchesPages = false
        var streamsPages = true
    }

    private let settings = Locked(Settings())

    /// The headers, the JSON and the errors of OData 4; a subclass for services of version 2 says `.odata(.v2)`.
    open override class var defaults: EndpointDefaults { .odata() }

    /// What happens to links of answers, next links and relations', that lead to another origin than the service's. Default: they are refused.
    public var foreignLinks: ForeignLinkPolicy {
        get { settings.withLock { $0.foreignLinks } }
        set { settings.withLock { $0.foreignLinks = newValue } }
    }

    /// Writes the queries, and says by its version which answers the client asks for and how bodies are spelled.
    public var printer: QueryPrinter {
        get { settings.withLock { $0.printer } }
        set { settings.withLock { $0.printer = newValue } }
    }

    /// What happens to queries with long URLs. Default: beyond 8,000 characters they are posted to `/$query` where the printer's version
    /// is 4.01.
    public var longQueries: LongQueryPolicy {
        get { settings.withLock { $0.longQueries } }
        set { settings.withLock { $0.longQueries = newValue } }
    }

    /// The types that ``Polymorphic`` results are decoded as.
    public var types: TypeRegistry {
        get { settings.withLock { $0.types } }
        set { settings.withLock { $0.types = newValue } }
    }

    /// What the types' own coding finds in `userInfo`, in queries and changes alike. Default: nothing. Key strategies there are none: names are
    /// said by coding keys, which queries are made of as well.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0.userInfo } }
        set { settings.withLock { $0.userInfo = newValue } }
    }

    /// How much queries ask the service to say beside the values, in version 4. Default: the minimum.
    public var metadataLevel: MetadataLevel {
        get { settings.withLock { $0.metadataLevel } }
        set { settings.withLock { $0.metadataLevel = newValue } }
    }

    /// Whether queries ask for `Int64` and `Decimal` as texts, and bodies have them so, in version 4. Default: no.
    ///
    /// This library reads numbers of any length exactly, so it is for services that lose digits themselves when they write them as numbers.
    /// Whether the service obeys is never assumed: both are read.
    public var asksForIEEE754Compatible: Bool {
        get { settings.withLock { $0.asksForIEEE754Compatible } }
        set { settings.withLock { $0.asksForIEEE754Compatible = newValue } }
    }

    /// How changes in version 2 write existing entities that an entity is related to. Default: as deferred links, which Olingo takes; a service that
    /// ignores these wants ``V2BindingSpelling/metadata``.
    public var v2Bindings: V2BindingSpelling {
        get { settings.withLock { $0.v2Bindings } }
        set { settings.withLock { $0.v2Bindings = newValue } }
    }

    /// How many entities a page shall have at most (`maxpagesize`: Protocol 4.01, section 8.2.8.4); the service may send fewer or more.
    /// Version 2 has no such preference. `nil`, the default, leaves it to the service, as any number below 1 does.
    public var maxPageSize: Int? {
        get { settings.withLock { $0.maxPageSize } }
        set { settings.withLock { $0.maxPageSize = newValue } }
    }

    /// Whether the next page is fetched while one is used. Default: no.
    ///
    /// Where the service takes its time for a page and the program for its entities, both times fall together. Pages are then read as a
    /// whole, also by ``entities(matching:)``: two are in memory. A page that was fetched ahead and isn't asked for is given up.
    public var prefetchesPages: Bool {
        get { settings.withLock { $0.prefetchesPages } }
        set { settings.withLock { $0.prefetchesPages = newValue } }
    }

    /// Whether ``entities(matching:)`` and ``entities(of:)`` give a page's entities while it arrives. Default: yes.
    ///
    /// A page that is being read keeps its connection, and counts against the call's whole time, until its last entity was taken. Where the
    /// program works long on each entity, or calls the service for each, say no: then one whole page is in memory, and nothing is under way
    /// while its entities are used.
    public var streamsPages: Bool {
        get { settings.withLock { $0.streamsPages } }
        set { settings.withLock { $0.streamsPages = newValue } }
    }

    // MARK: Entities

    /// All entities of a query: next links are followed to the end, up to the query's `top` if it has one.
    ///
    /// They are all in memory at once; ``entities(matching:)`` gives one after the other.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. Without the last page there is no result.
    public func fetch<Entity>(_ request: FetchRequest<Entity>) async throws -> [Entity] {
        var entities: [Entity] = []
        for try await page in pages(matching: request) { entities += page.entities }
        return entities
    }

    /// The entities of a query, one after the other over all pages. A page is fetched when the one before is used up.
    ///
    /// A failure is thrown after the entities of the pages before it, and where ``streamsPages`` is on, after those of its page before it.
    public func entities<Entity>(matching request: FetchRequest<Entity>) -> ODataEntities<Entity> {
        ODataEntities(pages: pages(matching: request))
    }

    /// One entity, or another resource with one value: a property, a singleton, a function's result.
    ///
    /// A `String` or a `Data` is read as a value inside the JSON, as other types are: of `Edm.String`, and of `Edm.Binary` in base64 or base64url. Of
    /// paths that end with `/$value`, `/$count` or `/$metadata` they are the whole body, and a `Data` also where the answer isn't JSON, as with stream
    /// properties. An optional is `nil` where the service says null.
    ///
    /// - Throws: `ServiceError`, also when there is none, or `CancellationError` when the task was cancelled.
    public func fetch<Entity>(_ request: EntityRequest<Entity>) async throws -> Entity {
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        return try await response(call(operation, to: target, for: Entity.self), operation).value
    }

    /// One entity, or `nil` where there is none: the service says 404 (Not Found), or for a relation to nothing or a null property 204 (No
    /// Content) or a null in JSON, such as `{"value":null}`, `{"@odata.null":true}` or V2's `{"d":null}`.
    ///
    /// A 404 with a page of HTML is an error still: it comes from something before the service, or the service root is wrong.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func fetchIfPresent<Entity>(_ request: EntityRequest<Entity>) async throws -> Entity? {
        try await ifPresent(unlessMissing: true) { try await self.fetch(request) }
    }

    /// One entity with what the service says about it; an entity tag that only the response's head has is among it.
    ///
    /// All properties are fetched unless the request selects some, as those that the type doesn't declare are kept.
    ///
    /// - Throws: `ServiceError`, also when there is none, or `CancellationError` when the task was cancelled.
    public func entity<Entity>(_ request: EntityRequest<Entity>) async throws -> ODataEntity<Entity> {
        let request = request.withMetadata()
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        let response: ServiceResponse<ODataEntity<Entity>> = try await self.response(call(operation, to: target), operation)
        var entity = response.value
        if entity.metadata.etag == nil { entity.metadata.etag = response.headers["ETag"] }
        return entity
    }

    // MARK: Pages

    /// The pages of a query, each fetched when it is asked for.
    public func pages<Entity>(matching request: FetchRequest<Entity>) -> ODataPages<Entity> {
        let operation = ODataOperation(request.query)
        return ODataPages(
            foreignLinks: foreignLinks, limit: request.options.top, origin: serviceOrigin, prefetches: prefetchesPages,
            streams: streamsPages,
            fetch: { step in
                let response: ServiceResponse<ODataPage<Entity>> = try await self.response(
                    self.call(step, of: request, operation), operation)
                return (response.value, LongQueryPolicy.base(of: response.url))
            },
            open: { .stream(try await self.pageSource(self.call($0, of: request, operation), operation)) },
            failure: { self.error(operation, .binding, .link, $0.description, cause: $0) })
    }

    /// The first page of a query, with its count and the link to the next one.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func page<Entity>(_ request: FetchRequest<Entity>) async throws -> ODataPage<Entity> {
        let operation = ODataOperation(request.query)
        return try await response(call(.first, of: request, operation), operation).value
    }

    /// The page behind a page of a query; `nil` behind the last one. For a link that was kept, give `ODataPage(entities: [], nextLink: link)`.
    ///
    /// The query's `top` isn't watched here.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func page<Entity>(after page: ODataPage<Entity>, of request: FetchRequest<Entity>) async throws -> ODataPage<Entity>? {
        guard let link = page.nextLink else { return nil }
        let operation = ODataOperation(request.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try request.relativeURL(using: printer) }
        // After redirects, if it is known.
        let base = try page.linkBase.root?.page ?? LongQueryPolicy.base(of: call(operation, to: target).url())
        let next: ServiceCall
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: page.context, page: base)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(base), policy: foreignLinks)
            next = paged(call(operation, link: url, isForeign: isForeign), operation)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
        return try await (response(next, operation) as ServiceResponse<ODataPage<Entity>>).value
    }

    /// The call for a page of a query.
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

    /// Says, once for each type, that all properties are fetched since nobody knows which are needed. Of an entity without a type that is plain.
    private func noteSelection<Entity>(of request: FetchRequest<Entity>) {
        guard Entity.self != DynamicEntity.self, let note = request.selectionNote,
            settings.withLock({ $0.noted.insert(ObjectIdentifier(Entity.self)).inserted })
        else { return }
        configuration.diagnostics.report(.init(.notice, note))
    }
}

// The version that a service answers in (Protocol 4.01, section 8.1.5).
extension ODataClient {
    /// An answer in a version that this library doesn't know may say what it can't read, or say it otherwise. Those that it knows are told by their
    /// shape, whichever was asked for.
    ///
    /// - Throws: `ServiceError` of the kind ``/WebServiceClient/ServiceError/Kind/version``. A head that says nothing, or no version, is none.
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

/// How much a service is to say beside the values (JSON Format, section 3.1).
public enum MetadataLevel: String, Sendable, Hashable, CaseIterable {
    /// Next only to nothing: next links and counts.
    case none
    /// What a client can't know by the conventions.
    case minimal
    /// All: types, links and operations of every entity.
    case full
}

/// A version as headers say it: `4.01`, `2.0;`, `4.0;NetFx`.
struct ProtocolVersion: Comparable {
    let major: Int
    let minor: Int

    static let latestKnown = ProtocolVersion(major: 4, minor: 1)

    private init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    init?(_ text: String) {
        let parts = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.major = major
        self.minor = minor
    }

    static func < (left: ProtocolVersion, right: ProtocolVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}

/// What to do with queries whose URL is so long that servers may refuse it.
///
/// As the body of a POST to the resource's `/$query` a query may have any length (URL Conventions 4.01, section 4.17).
public enum LongQueryPolicy: Sendable, Hashable {
    /// POST beyond 8,000 characters where the printer's version is 4.01, since few servers take a longer URL; else always GET.
    case automatic
    /// Always GET.
    case get
    /// POST where the URL, without the service root, has more characters than this. Not in V2, which has no `$query`.
    case post(beyond: Int)

    /// The resource's path and the options, where they are to be posted; `nil` where the URL is to be fetched.
    func posted(_ target: String, version: ODataVersion) -> (path: String, options: String)? {
        guard isExceeded(by: target, version: version), let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let path = target[..<mark]
        // Behind `$count` and its like the grammar allows no `$query`.
        guard let last = path.split(separator: "/").last,
            !last.hasPrefix("$") || last.hasPrefix("$filter") || last.hasPrefix("$crossjoin(")
        else { return nil }
        return (path + "/" + Self.segment, String(target[target.utf8.index(after: mark)...]))
    }

    /// Whether a URL is too long.
    func isExceeded(by target: String, version: ODataVersion) -> Bool {
        switch self {
        case .get: false
        case .automatic: version >= .v401 && target.utf8.count > 8_000
        case .post(let beyond): version >= .v4 && target.utf8.count > beyond
        }
    }

    private static let segment = "$query"

    /// The URL that the query would have been fetched from, which relative links of the answer begin at.
    static func base(of url: URL) -> URL {
        let text = url.absoluteString
        let path = text.prefix { $0 != "?" && $0 != "#" }
        guard path.hasSuffix("/" + segment) else { return url }
        return URL(string: String(path.dropLast(segment.count + 1)) + String(text[path.endIndex...])) ?? url
    }
}
