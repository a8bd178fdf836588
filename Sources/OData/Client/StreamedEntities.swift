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
