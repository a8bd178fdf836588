/// The entities of pages that are read while they arrive.
final class StreamedEntities<Entity: Decodable & Sendable> {
    private enum Page {
        case whole(ODataPages<Entity>.Fetched, position: Int)
        case stream(PageStream<Entity>)
    }

    private let open: @Sendable (PageStep) async throws -> OpenedPage<Entity>
    private var walk: PageWalk
    private var page: Page?

    init(_ pages: ODataPages<Entity>, _ open: @escaping @Sendable (PageStep) async throws -> OpenedPage<Entity>) {
        self.open = open
        walk = pages.walk
    }

    func next() async throws -> Entity? {
        while true {
            switch page {
            case .whole(let fetched, let position):
                if !walk.isFull, position < fetched.page.entities.count {
                    walk.count(1)
                    page = .whole(fetched, position: position + 1)
                    return fetched.page.entities[position]
                }
                page = nil
                walk.pass(fetched.page, from: fetched.url)
            case .stream(let stream):
                do {
                    if !walk.isFull, let entity = try await stream.next() {
                        walk.count(1)
                        return entity
                    }
                    try await stream.skipRest()
                    page = nil
                    walk.pass(try await stream.page(), from: stream.url)
                } catch {
                    // Without a page and a next step, the sequence ends.
                    page = nil
                    throw error
                }
            case nil:
                guard let step = try walk.next() else { return nil }
                switch try await open(step) {
                case .whole(let fetched): page = .whole(fetched, position: 0)
                case .stream(let source): page = .stream(PageStream(source))
                }
            }
        }
    }
}

/// The entities of a query or a relation over all pages, returned while a page arrives. The next page is fetched when all entities of the
/// current one have been read.
///
/// Memory use doesn't depend on the page size: only one piece of the page is in memory, or the entity being received if that is larger. If
/// the client doesn't stream pages (``ODataClient/streamsPages``), one page is in memory; if it prefetches pages, two.
///
/// A streamed page keeps its connection, and counts against the call's total time, until its last entity is read.
public struct ODataEntities<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One entity.
    public typealias Element = Entity

    let pages: ODataPages<Entity>

    /// Returns an iterator that starts at the first entity.
    public func makeAsyncIterator() -> Iterator {
        if let open = pages.open, pages.streams, !pages.prefetches { return Iterator(way: .streams(StreamedEntities(pages, open))) }
        return Iterator(way: .pages(PagedEntities(pages: pages.makeAsyncIterator())))
    }

    /// An iterator over the entities.
    public struct Iterator: AsyncIteratorProtocol {
        enum Way {
            case streams(StreamedEntities<Entity>)
            case pages(PagedEntities<Entity>)
        }

        private let way: Way

        init(way: Way) { self.way = way }

        /// Returns the next entity, or `nil` after the last one.
        ///
        /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. After an error, the sequence has ended.
        public mutating func next() async throws -> Entity? {
            switch way {
            case .streams(let entities): try await entities.next()
            case .pages(let entities): try await entities.next()
            }
        }
    }
}
