import Foundation
import WebServiceClient

/// What to fetch next.
enum PageStep: Sendable {
    case first
    case link(URL, isForeign: Bool)
}

/// The sequence of pages: the next step, the limit of entities, and the check of links.
struct PageWalk {
    private let foreignLinks: ForeignLinkPolicy
    /// Makes the error that is thrown for a refused link.
    private let refusal: @Sendable (ODataLinkError) -> any Error
    private var step: PageStep? = .first
    /// The reason why the page after the current one can't be fetched, thrown when that page is requested, so that the current page isn't
    /// lost.
    private var failure: (any Error)?
    /// The number of entities that may still be returned; `nil` for no limit.
    private var remaining: Int?
    /// The origin that links must lead to; if unknown, the first page's.
    private var origin: Origin?
    /// The root that links are relative to in version 2.
    private let linkRoot: URL?
    /// Hashes of the pages' URLs: eight bytes per page, however many there are.
    private var seen: Set<Int> = []

    init(
        limit: Int?, origin: Origin?, linkRoot: URL?, foreignLinks: ForeignLinkPolicy,
        refusal: @escaping @Sendable (ODataLinkError) -> any Error
    ) {
        remaining = limit
        self.origin = origin
        self.linkRoot = linkRoot
        self.foreignLinks = foreignLinks
        self.refusal = refusal
    }

    /// A Boolean value that indicates whether the limit is reached. The client counts because services may apply the query's top to each
    /// page.
    var isFull: Bool { remaining == 0 }

    /// Returns the next step, or `nil` after the last page. A step has no successor until its page is passed, so that any error ends the
    /// walk.
    mutating func next() throws -> PageStep? {
        if let failure {
            self.failure = nil
            throw failure
        }
        guard let step else { return nil }
        self.step = nil
        try Task.checkCancellation()
        if case .link(let asked, _) = step { seen.insert(asked.absoluteString.hashValue) }
        return step
    }

    /// The next step without taking it, if there is one.
    var peek: PageStep? { failure == nil ? step : nil }

    /// Counts returned entities against the limit.
    mutating func count(_ number: Int) {
        if let rest = remaining { remaining = max(rest - number, 0) }
    }

    /// Returns how many of a page's entities the limit allows.
    func share(of number: Int) -> Int { min(number, remaining ?? number) }

    /// Moves past a page whose entities have been counted, to the page of its next link.
    mutating func pass<Entity>(_ page: ODataPage<Entity>, from url: URL) {
        origin = origin ?? Origin(url)
        seen.insert(url.absoluteString.hashValue)
        guard !isFull, let link = page.nextLink else { return }
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: page.context, page: url, root: linkRoot)
            let (next, isForeign) = try NextLink.route(named, service: origin, policy: foreignLinks)
            guard !seen.contains(next.absoluteString.hashValue) else { throw .loop(NextLink.shown(next)) }
            step = .link(next, isForeign: isForeign)
        } catch {
            failure = refusal(error)
        }
    }
}

/// The response of a page, and the errors for its failures.
struct PageSource: Sendable {
    let response: ServiceResponse<ResponseBody>
    let errors: StreamErrors
    let decoder: ODataDecoder
    /// Checks the trailers that follow the page.
    let checkEnd: @Sendable () throws -> Void
}

/// The entities of pages that are fetched as a whole.
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

/// A page to read entities from.
enum OpenedPage<Entity: Decodable & Sendable>: Sendable {
    /// A complete page: the expanded entities of a relation.
    case whole(ODataPages<Entity>.Fetched)
    /// A page being received.
    case stream(PageSource)
}
