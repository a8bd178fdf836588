/// The entities of a query over all its pages, read while a page arrives; the next page is fetched when the last one's entities were taken.
///
/// Memory stays flat, whatever the size of a page: it holds a piece of it, or the entity that is being received if that is larger. Where the
/// client prefetches pages, two of them are in memory.
public struct ODataEntities<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One entity.
    public typealias Element = Entity

    let pages: ODataPages<Entity>

    /// An iterator from the first entity on.
    public func makeAsyncIterator() -> Iterator {
        if let open = pages.open, !pages.prefetches { return Iterator(way: .streams(StreamedEntities(pages, open))) }
        return Iterator(way: .pages(PagedEntities(pages: pages.makeAsyncIterator())))
    }

    /// Gives entity by entity.
    public struct Iterator: AsyncIteratorProtocol {
        enum Way {
            case streams(StreamedEntities<Entity>)
            case pages(PagedEntities<Entity>)
        }

        private let way: Way

        init(way: Way) { self.way = way }

        /// The next entity, `nil` behind the last one.
        ///
        /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. Afterwards there is nothing more.
        public mutating func next() async throws -> Entity? {
            switch way {
            case .streams(let entities): try await entities.next()
            case .pages(let entities): try await entities.next()
            }
        }
    }
}

/// Entities out of pages that are fetched as a whole.
final class PagedEntities<Entity: Decodable & Sendable> {
    private var pages: ODataPages<Entity>.Iterator
    private var page: [Entity] = []
    private var position = 0

    init(pages: ODataPages<Entity>.Iterator) { self.pages = pages }

    func next() async throws -> Entity? {
        while position == page.count {
            guard let next = try await pages.next() else { return nil }
            page = next.entities
            position = 0
        }
        defer { position += 1 }
        return page[position]
    }
}

/// Entities out of pages that are read while they arrive.
final class StreamedEntities<Entity: Decodable & Sendable> {
    private let open: @Sendable (PageStep) async throws -> PageSource
    private var walk: PageWalk
    private var page: PageStream<Entity>?

    init(_ pages: ODataPages<Entity>, _ open: @escaping @Sendable (PageStep) async throws -> PageSource) {
        self.open = open
        walk = pages.walk
    }

    func next() async throws -> Entity? {
        while true {
            if var page {
                // What throws leaves no page, and the walk has no step: that is the end.
                self.page = nil
                if !walk.isFull, let entity = try await page.next() {
                    walk.count(1)
                    self.page = page
                    return entity
                }
                try await page.skipRest()
                walk.pass(try await page.page(), from: page.url)
            }
            guard let step = try walk.next() else { return nil }
            page = PageStream(try await open(step))
        }
    }
}
