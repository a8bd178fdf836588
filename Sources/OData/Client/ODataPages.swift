import Foundation
import WebServiceClient

/// The pages of a query, one request each, fetched when they are asked for.
///
/// Next links are followed as they are. A page that can't be fetched or read throws: what came before stays with the caller, and
/// the end is only reached where the service said so.
public struct ODataPages<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One page.
    public typealias Element = ODataPage<Entity>

    /// What to fetch next.
    enum Step: Sendable {
        case first
        case link(URL, isForeign: Bool)
    }

    /// A page and the URL it came from, after redirects.
    typealias Fetched = (page: ODataPage<Entity>, url: URL)

    let foreignLinks: ForeignLinkPolicy
    /// The most entities to give in all pages together: the query's `$top`.
    let limit: Int?
    /// The origin that links must lead to; the first page's where it isn't known.
    let origin: Origin?
    let fetch: @Sendable (Step) async throws -> Fetched
    /// Makes what is thrown of a link that isn't followed.
    var failure: @Sendable (ODataLinkError) -> any Error = { $0 }

    /// An iterator from the first page on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self)
    }

    /// Fetches page by page.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: ODataPages
        private var step: Step? = .first
        /// Why the page after the one just given can't be fetched: thrown when it is asked for, so that no page is lost.
        private var failure: (any Error)?
        private var remaining: Int?
        private var origin: Origin?
        /// Hashes of the pages' addresses: eight bytes a page, however many there are.
        private var seen: Set<Int> = []

        init(pages: ODataPages) {
            self.pages = pages
            remaining = pages.limit
            origin = pages.origin
        }

        /// The next page, `nil` behind the last one.
        public mutating func next() async throws -> ODataPage<Entity>? {
            if let failure {
                self.failure = nil
                throw failure
            }
            guard let step else { return nil }
            // Whatever throws below ends the iteration.
            self.step = nil
            try Task.checkCancellation()
            var (page, url) = try await pages.fetch(step)
            origin = origin ?? Origin(url)
            seen.insert(url.absoluteString.hashValue)
            if case .link(let asked, _) = step { seen.insert(asked.absoluteString.hashValue) }
            if let rest = remaining {
                // Services may not count what earlier pages gave against the query's top.
                if page.entities.count > rest { page.entities.removeSubrange(rest...) }
                remaining = rest - page.entities.count
            }
            if remaining != 0, let link = page.nextLink {
                do throws(ODataLinkError) {
                    self.step = try following(link, of: page, at: url)
                } catch {
                    failure = pages.failure(error)
                }
            }
            return page
        }

        private func following(_ link: String, of page: ODataPage<Entity>, at url: URL) throws(ODataLinkError) -> Step {
            let named = try NextLink.url(link, context: page.context, page: url)
            let (next, isForeign) = try NextLink.route(named, service: origin, policy: pages.foreignLinks)
            guard !seen.contains(next.absoluteString.hashValue) else { throw .loop(NextLink.shown(next)) }
            return .link(next, isForeign: isForeign)
        }
    }
}

/// The entities of a query over all its pages; the next page is fetched when the last one's entities were taken.
public struct ODataEntities<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One entity.
    public typealias Element = Entity

    let pages: ODataPages<Entity>

    /// An iterator from the first entity on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator())
    }

    /// Gives entity by entity.
    public struct Iterator: AsyncIteratorProtocol {
        private var pages: ODataPages<Entity>.Iterator
        private var page: [Entity] = []
        private var position = 0

        init(pages: ODataPages<Entity>.Iterator) {
            self.pages = pages
        }

        /// The next entity, `nil` behind the last one.
        public mutating func next() async throws -> Entity? {
            while position == page.count {
                guard let next = try await pages.next() else { return nil }
                page = next.entities
                position = 0
            }
            defer { position += 1 }
            return page[position]
        }
    }
}
