/// Entities out of pages that are read while they arrive.
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
                    // Without a page, and with no step of the walk, this is the end.
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
