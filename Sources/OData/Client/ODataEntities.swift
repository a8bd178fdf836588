/// The entities of a query or a relation over all pages, read while a page arrives; the next page is fetched when the last one's entities
/// were taken.
///
/// Memory stays flat, whatever the size of a page: it holds a piece of it, or the entity that is being received if that is larger. Where the
/// client doesn't stream pages (``ODataClient/streamsPages``), one of them is in memory; where it prefetches them, two.
///
/// A page that is streamed keeps its connection, and counts against the call's whole time, until its last entity is taken.
public struct ODataEntities<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
    /// One entity.
    public typealias Element = Entity

    let pages: ODataPages<Entity>

    /// An iterator from the first entity on.
    public func makeAsyncIterator() -> Iterator {
        if let open = pages.open, pages.streams, !pages.prefetches { return Iterator(way: .streams(StreamedEntities(pages, open))) }
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
