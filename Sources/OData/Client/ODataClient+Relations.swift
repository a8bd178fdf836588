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

    /// The page that came along with the relation's entity, where that is asked for; relative links begin at the service's root.
    private func given<Entity>(
        _ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation
    ) throws -> ODataPages<Entity>.Fetched? {
        guard case .first = step, let elements = relation.elements else { return nil }
        let page = ODataPage(entities: elements, count: relation.count, nextLink: relation.nextLink, context: relation.context)
        return (page, try call(operation, to: "").url())
    }

    /// The call for a page of a relation.
    private func call<Entity>(_ step: PageStep, of relation: ToMany<Entity>, _ operation: ODataOperation) throws -> ServiceCall {
        switch step {
        case .first:
            let base = try call(operation, to: "").url()
            return paged(
                try following(relation.nextLink ?? relation.navigationLink, context: relation.context, operation, from: base), operation)
        case .link(let url, let isForeign):
            return paged(call(operation, link: url, isForeign: isForeign), operation)
        }
    }

    /// The entity that a relation leads to, fetched by its link where it wasn't expanded; `nil` where there is none.
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` where it wasn't expanded and has no link; `CancellationError` when
    ///   the task was cancelled.
    public func entity<Entity: Decodable & Sendable>(of relation: ToOne<Entity>) async throws -> Entity? {
        switch relation {
        case .null: return nil
        case .value(let entity): return entity
        case .notLoaded(let link):
            let operation = ODataOperation(route: "relation")
            let base = try call(operation, to: "").url()
            let next = try following(link, context: nil, operation, from: base)
            return try await ifPresent { try await self.response(next, operation).value }
        }
    }

    private func following(_ link: String?, context: String?, _ operation: ODataOperation, from base: URL) throws -> ServiceCall {
        do throws(ODataLinkError) {
            guard let link else { throw .notLoaded }
            let named = try NextLink.url(link, context: context, page: base)
            let (url, isForeign) = try NextLink.route(named, service: serviceOrigin ?? Origin(base), policy: foreignLinks)
            return call(operation, link: url, isForeign: isForeign)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
    }
}
