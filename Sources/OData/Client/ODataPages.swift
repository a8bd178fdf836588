import Foundation
import WebServiceClient

/// The pages of a query, fetched by one request each when they are requested.
///
/// Next links are followed unchanged. A page that can't be fetched or read throws an error; pages before it remain valid. The sequence ends
/// only after a page without a next link.
public struct ODataPages<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One page.
    public typealias Element = ODataPage<Entity>

    /// A page and its URL, after redirects.
    typealias Fetched = (page: ODataPage<Entity>, url: URL)

    let foreignLinks: ForeignLinkPolicy
    /// The maximum number of entities in all pages together: the query's `$top`.
    let limit: Int?
    /// The origin that links must lead to; if unknown, the first page's.
    let origin: Origin?
    /// The root that links are relative to in version 2.
    var linkRoot: URL?
    /// Whether the next page is fetched while the current one is in use.
    var prefetches = false
    /// Whether entities are returned while their page arrives.
    var streams = true
    let fetch: @Sendable (PageStep) async throws -> Fetched
    /// Opens a page that is read while it arrives.
    var open: (@Sendable (PageStep) async throws -> OpenedPage<Entity>)?
    /// Makes the error that is thrown for a refused link.
    var failure: @Sendable (ODataLinkError) -> any Error = { $0 }

    var walk: PageWalk {
        PageWalk(limit: limit, origin: origin, linkRoot: linkRoot, foreignLinks: foreignLinks, refusal: failure)
    }

    /// Returns an iterator that starts at the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self)
    }

    /// An iterator over the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: ODataPages
        private var walk: PageWalk
        private var prefetch: FetchAhead<Fetched>?

        init(pages: ODataPages) {
            self.pages = pages
            walk = pages.walk
        }

        /// Returns the next page, or `nil` after the last one.
        ///
        /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
        public mutating func next() async throws -> ODataPage<Entity>? {
            guard let (fetched, url) = try await fetched() else { return nil }
            var page = fetched
            page.entities.removeSubrange(walk.share(of: page.entities.count)...)
            walk.count(page.entities.count)
            walk.pass(page, from: url)
            // An error of the walk is thrown when its page is requested.
            if pages.prefetches, let step = walk.peek { prefetch = FetchAhead { [pages] in try await pages.fetch(step) } }
            return page
        }

        private mutating func fetched() async throws -> Fetched? {
            let waiting = prefetch
            prefetch = nil
            guard let step = try walk.next() else { return nil }
            if let waiting { return try await waiting.result() }
            return try await pages.fetch(step)
        }
    }
}
