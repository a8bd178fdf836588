import Foundation
import WebServiceClient

// What relations lead to: what came along with their entity, and what didn't.
extension ODataClient {
    /// All entities that a relation leads to: those that came along, and those behind its next link; of a relation that wasn't expanded, those
    /// behind its link.
    ///
    /// Where the relation has neither, the first entity that is asked for throws ``ODataLinkError/notLoaded``: expand it in the query.
    public func entities<Entity>(of relation: ToMany<Entity>) -> ODataEntities<Entity> {
        ODataEntities(pages: pages(of: relation))
    }

    /// The same in pages; the first is what came along.
    public func pages<Entity>(of relation: ToMany<Entity>) -> ODataPages<Entity> {
        let operation = ODataOperation(route: "relation")
        return ODataPages(
            foreignLinks: foreignLinks, limit: nil, origin: serviceOrigin, prefetches: prefetchesPages, streams: streamsPages,
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

    /// The page that came along with the relation's entity, where that is asked for.
    private func given<Entity>(
        _ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation
    ) throws -> ODataPages<Entity>.Fetched? {
        guard case .first = step, let elements = relation.elements else { return nil }
        return (ODataPage(entities: elements, count: relation.count, nextLink: relation.nextLink), try base(of: relation, operation))
    }

    /// The call for a page of a relation.
    private func call<Entity>(_ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation) throws -> ServiceCall {
        switch step {
        case .first:
            return paged(
                try following(relation.nextLink ?? relation.navigationLink, operation, from: try base(of: relation, operation)), operation)
        case .link(let url, let isForeign):
            return paged(call(operation, link: url, isForeign: isForeign), operation)
        }
    }

    /// What the links of a relation begin at. One that this client didn't read is taken to come from the service's root.
    private func base<Entity>(of relation: ToMany<Entity>, _ operation: ODataOperation) throws -> URL {
        let root = try rootURL(operation)
        return relation.linkBase.url(page: root) ?? root
    }

    /// The entity that a relation leads to, fetched by its link where it wasn't expanded; `nil` where there is none.
    ///
    /// That there is none the service says by 204 (Protocol 4.01, section 11.2.7), or by null. A 404 (Not Found) says the same in version 2, unless
    /// it comes with a page of HTML. In version 4 it is an error: what the link names isn't there, be it that the entity which had the relation was
    /// deleted, or that the link is wrong.
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` where it wasn't expanded and has no link; `CancellationError` when
    ///   the task was cancelled.
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
            let named = try NextLink.url(link, context: nil, page: base)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(base), policy: foreignLinks)
            return call(operation, link: url, isForeign: isForeign)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
    }
}

// How many entities there are, without the entities.
extension ODataClient {
    /// The number of entities that match a query's filter and search, whatever its other options say; the service counts (`/$count`).
    ///
    /// Where a service doesn't know `/$count`, ask for ``QueryBuilding/count()`` and take it from the first ``page(_:)``. A query that is too
    /// long for a URL, as ``longQueries`` says, is posted so, for a page without entities.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func count<Entity>(of request: FetchRequest<Entity>) async throws -> Int64 {
        let counted = FetchRequest<Entity>(counting: request)
        let operation = ODataOperation(counted.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try counted.relativeURL(using: printer) }
        if longQueries.isExceeded(by: target, version: printer.version) { return try await countByPage(request) }
        let response: ServiceResponse<String> = try await self.response(call(operation, to: target, for: String.self), operation)
        // Some services begin with a byte order mark.
        let text = response.value.filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
        guard let count = Int64(text), count >= 0 else {
            throw error(
                operation, .decoding, .decoding, "The service's count is no whole number: '\(text.prefix(40))'.",
                response: ResponseSummary(of: response, body: Data(response.value.utf8)))
        }
        return count
    }

    /// Nothing can be posted to `/$count`.
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
    /// The request for the number of what another one matches.
    init(counting other: FetchRequest) {
        self.init(resource: other.resource.appending(.count))
        options = other.options
        keepMatching()
    }

    /// The same as a page that has the number and nothing else.
    init<Other>(countingByPage other: FetchRequest<Other>) {
        self.init(resource: other.resource)
        options = other.options
        keepMatching()
        options.top = 0
        options.includesCount = true
    }

    /// Keeps of the options what says which entities are meant.
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
