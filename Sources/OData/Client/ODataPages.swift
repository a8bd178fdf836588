import Foundation
import WebServiceClient

/// The pages of a query, one request each, fetched when they are asked for.
///
/// Next links are followed as they are. A page that can't be fetched or read throws: what came before stays with the caller, and
/// the end is only reached where the service said so.
public struct ODataPages<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One page.
    public typealias Element = ODataPage<Entity>

    /// A page and the URL it came from, after redirects.
    typealias Fetched = (page: ODataPage<Entity>, url: URL)

    let foreignLinks: ForeignLinkPolicy
    /// The most entities to give in all pages together: the query's `$top`.
    let limit: Int?
    /// The origin that links must lead to; the first page's where it isn't known.
    let origin: Origin?
    /// Whether the next page is fetched while one is used.
    var prefetches = false
    /// Whether single entities are given while their page arrives.
    var streams = true
    let fetch: @Sendable (PageStep) async throws -> Fetched
    /// Begins to fetch a page that is to be read while it arrives.
    var open: (@Sendable (PageStep) async throws -> OpenedPage<Entity>)?
    /// Makes what is thrown of a link that isn't followed.
    var failure: @Sendable (ODataLinkError) -> any Error = { $0 }

    var walk: PageWalk { PageWalk(limit: limit, origin: origin, foreignLinks: foreignLinks, refusal: failure) }

    /// An iterator from the first page on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self)
    }

    /// Fetches page by page.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: ODataPages
        private var walk: PageWalk
        private var prefetch: PagePrefetch<Entity>?

        init(pages: ODataPages) {
            self.pages = pages
            walk = pages.walk
        }

        /// The next page, `nil` behind the last one.
        public mutating func next() async throws -> ODataPage<Entity>? {
            guard let (fetched, url) = try await fetched() else { return nil }
            var page = fetched
            page.entities.removeSubrange(walk.share(of: page.entities.count)...)
            walk.count(page.entities.count)
            walk.pass(page, from: url)
            // What the walk throws is thrown when the page is asked for.
            if pages.prefetches, let step = walk.peek { prefetch = PagePrefetch(step, by: pages.fetch) }
            return page
        }

        private mutating func fetched() async throws -> Fetched? {
            let waiting = prefetch
            prefetch = nil
            guard let step = try walk.next() else { return nil }
            if let waiting { return try await waiting.page() }
            return try await pages.fetch(step)
        }
    }
}
