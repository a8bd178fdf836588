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
