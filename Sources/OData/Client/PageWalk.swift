import Foundation
import WebServiceClient

/// What to fetch next.
enum PageStep: Sendable {
    case first
    case link(URL, isForeign: Bool)
}

/// The way from page to page: which is next, up to where, and whether its link may be followed.
struct PageWalk {
    private let foreignLinks: ForeignLinkPolicy
    /// Makes what is thrown of a link that isn't followed.
    private let refusal: @Sendable (ODataLinkError) -> any Error
    private var step: PageStep? = .first
    /// Why the page after the one just given can't be fetched: thrown when it is asked for, so that no page is lost.
    private var failure: (any Error)?
    /// How many entities are still to be given.
    private var remaining: Int?
    /// The origin that links must lead to; the first page's where it isn't known.
    private var origin: Origin?
    /// Hashes of the pages' addresses: eight bytes a page, however many there are.
    private var seen: Set<Int> = []

    init(limit: Int?, origin: Origin?, foreignLinks: ForeignLinkPolicy, refusal: @escaping @Sendable (ODataLinkError) -> any Error) {
        remaining = limit
        self.origin = origin
        self.foreignLinks = foreignLinks
        self.refusal = refusal
    }

    /// Whether no more entities are to be given: services may not count what earlier pages gave against the query's top.
    var isFull: Bool { remaining == 0 }

    /// The next step; `nil` behind the last page. Until the page has come, there is none behind it: so whatever throws ends the walk.
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

    /// The step that comes next, if there is one.
    var peek: PageStep? { failure == nil ? step : nil }

    /// Counts entities that were given.
    mutating func count(_ number: Int) {
        if let rest = remaining { remaining = max(rest - number, 0) }
    }

    /// So many of a number of entities are to be given.
    func share(of number: Int) -> Int { min(number, remaining ?? number) }

    /// Goes on behind a page that came from a URL, whose entities have been counted.
    mutating func pass<Entity>(_ page: ODataPage<Entity>, from url: URL) {
        origin = origin ?? Origin(url)
        seen.insert(url.absoluteString.hashValue)
        guard !isFull, let link = page.nextLink else { return }
        do throws(ODataLinkError) {
            let named = try NextLink.url(link, context: page.context, page: url)
            let (next, isForeign) = try NextLink.route(named, service: origin, policy: foreignLinks)
            guard !seen.contains(next.absoluteString.hashValue) else { throw .loop(NextLink.shown(next)) }
            step = .link(next, isForeign: isForeign)
        } catch {
            failure = refusal(error)
        }
    }
}

/// The answer that a page comes in, and what makes errors of whatever goes wrong with it.
struct PageSource: Sendable {
    let response: ServiceResponse<ResponseBody>
    let errors: StreamErrors
    let decoder: ODataDecoder
    /// Looks at what came behind the page.
    let checkEnd: @Sendable () throws -> Void

    /// Whether something is wrong with the text itself.
    static func isSyntaxError(_ error: any Error) -> Bool {
        guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
        return context.underlyingError is JSONSyntaxError
    }
}

/// A page that is fetched while the one before is used; given up when nobody waits for it any more.
final class PagePrefetch<Entity: Decodable & Sendable>: Sendable {
    private let task: Task<ODataPages<Entity>.Fetched, any Error>

    init(_ step: PageStep, by fetch: @escaping @Sendable (PageStep) async throws -> ODataPages<Entity>.Fetched) {
        task = Task { try await fetch(step) }
    }

    deinit { task.cancel() }

    func page() async throws -> ODataPages<Entity>.Fetched {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
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

/// A page that entities are to be taken from.
enum OpenedPage<Entity: Decodable & Sendable>: Sendable {
    /// A page that is there: what came along with the entity that it belongs to.
    case whole(ODataPages<Entity>.Fetched)
    /// A page that is being received.
    case stream(PageSource)
}
