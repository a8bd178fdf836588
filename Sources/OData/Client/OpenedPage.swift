/// A page that entities are to be taken from.
enum OpenedPage<Entity: Decodable & Sendable>: Sendable {
    /// A page that is there: what came along with the entity that it belongs to.
    case whole(ODataPages<Entity>.Fetched)
    /// A page that is being received.
    case stream(PageSource)
}
