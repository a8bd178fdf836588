import Foundation
import WebServiceClient

// Related entities, expanded or fetched by link.
extension ODataClient {
    /// Returns all entities of a relation: the expanded ones and those of its next link or, if the relation wasn't expanded, those of its
    /// navigation link.
    ///
    /// If the relation has neither, requesting the first entity throws ``ODataLinkError/notLoaded``: expand the relation in the query.
    public func entities<Entity>(of relation: ToMany<Entity>) -> ODataEntities<Entity> {
        ODataEntities(pages: pages(of: relation))
    }

    /// Returns the same entities in pages; the first page contains the expanded entities.
    public func pages<Entity>(of relation: ToMany<Entity>) -> ODataPages<Entity> {
        let operation = ODataOperation(route: "relation")
        return ODataPages(
            foreignLinks: foreignLinks, limit: nil, origin: serviceOrigin, linkRoot: linkRoot, prefetches: prefetchesPages,
            streams: streamsPages,
            fetch: { step in
                if let page = try self.given(step, of: relation, operation) { return page }
                let response: ServiceResponse<ODataPage<Entity>> = try await self.response(
                    self.call(step, of: relation, operation), operation)
                return (response.value, response.url)
            },
            open: { step in
                if let page = try self.given(step, of: relation, operation) { return .whole(page) }
                return .stream(try await self.pageSource(self.call(step, of: relation, operation), operation))
            },
            failure: { self.error(operation, .binding, .link, $0.description, cause: $0) })
    }

    /// Returns the page of expanded entities if the step is the first one.
    private func given<Entity>(
        _ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation
    ) throws -> ODataPages<Entity>.Fetched? {
        guard case .first = step, let elements = relation.elements else { return nil }
        return (ODataPage(entities: elements, count: relation.count, nextLink: relation.nextLink), try base(of: relation, operation))
    }

    /// Returns the call for a page of a relation.
    private func call<Entity>(_ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation) throws -> ServiceCall {
        switch step {
        case .first:
            return paged(
                try following(relation.nextLink ?? relation.navigationLink, operation, from: try base(of: relation, operation)), operation)
        case .link(let url, let isForeign):
            return paged(call(operation, link: url, isForeign: isForeign), operation)
        }
    }

    /// Returns the base of a relation's links: the service root if this client didn't read the relation.
    private func base<Entity>(of relation: ToMany<Entity>, _ operation: ODataOperation) throws -> URL {
        let root = try rootURL(operation)
        return relation.linkBase.url(page: root) ?? root
    }

    /// Returns the entity of a relation, fetched by its link if it wasn't expanded, or `nil` if there is none.
    ///
    /// The service reports an empty relation by 204 (Protocol 4.01, section 11.2.7) or by null. In version 2, a 404 (Not Found) without an
    /// HTML page means the same. In version 4, a 404 is an error: the entity with the relation was deleted, or the link is wrong.
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` if the relation wasn't expanded and has no link;
    ///   `CancellationError` when the task was cancelled.
    public func entity<Entity: Decodable & Sendable>(of relation: ToOne<Entity>) async throws -> Entity? {
        switch relation {
        case .null: return nil
        case .value(let entity): return entity
        case .notLoaded(let link):
            let operation = ODataOperation(route: "relation")
            let next = try following(link, operation, from: try rootURL(operation))
            return try await ifPresent(unlessMissing: printer.version == .v2) { try await self.response(next, operation).value }
        }
    }

    private func following(_ link: String?, _ operation: ODataOperation, from base: URL) throws -> ServiceCall {
        do throws(ODataLinkError) {
            guard let link else { throw .notLoaded }
            let named = try NextLink.url(link, context: nil, page: base, root: linkRoot)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(base), policy: foreignLinks)
            return call(operation, link: url, isForeign: isForeign)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
    }
}

// Counting entities without fetching them.
extension ODataClient {
    /// Returns the number of entities that match a query's filter and search; its other options are ignored. The service counts
    /// (`/$count`).
    ///
    /// If a service doesn't support `/$count`, request ``QueryBuilding/count()`` and read the count of the first ``page(_:)``. A query that
    /// is too long for a URL by ``longQueries`` is posted as a request for a page without entities.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func count<Entity>(of request: FetchRequest<Entity>) async throws -> Int64 {
        let counted = FetchRequest<Entity>(counting: request)
        let operation = ODataOperation(counted.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try counted.relativeURL(using: printer) }
        if longQueryPolicy.isExceeded(by: target, version: printer.version) { return try await countByPage(request) }
        let response: ServiceResponse<String> = try await self.response(call(operation, to: target, for: String.self), operation)
        // Some services begin with a byte order mark.
        let text = response.value.filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
        guard let count = Int64(text), count >= 0 else {
            throw error(
                operation, .decoding, .decoding, "The service's count isn't a nonnegative integer: '\(text.prefix(40))'.",
                response: ResponseSummary(of: response, body: Data(response.value.utf8)))
        }
        return count
    }

    /// Counts by a page, because `/$count` doesn't accept POST.
    private func countByPage<Entity>(_ request: FetchRequest<Entity>) async throws -> Int64 {
        let counted = FetchRequest<DynamicEntity>(countingByPage: request)
        guard let count = try await page(counted).count else {
            throw error(
                ODataOperation(counted.resource), .decoding, .decoding, "The service's page has no count, although it was asked for.")
        }
        return count
    }
}

extension FetchRequest {
    /// Creates a request that counts the matches of another one.
    init(counting other: FetchRequest) {
        self.init(resource: other.resource.appending(.count))
        options = other.options
        keepMatching()
    }

    /// Creates a request for an empty page with the count.
    init<Other>(countingByPage other: FetchRequest<Other>) {
        self.init(resource: other.resource)
        options = other.options
        keepMatching()
        options.top = 0
        options.includesCount = true
    }

    /// Keeps only the options that determine the matching entities.
    private mutating func keepMatching() {
        options.selection = .all
        options.expansions = []
        options.order = []
        options.top = nil
        options.skip = nil
        options.includesCount = false
        options.levels = nil
        options.index = nil
    }
}
