public import Foundation

/// A page of a list.
public struct Page<Value> {
    /// The page's value, as the endpoint decodes it.
    public var value: Value
    /// The number of the page in its sequence, from 1.
    public let number: Int
    /// The next page; `nil` if this is the last one, or if the next one can't be fetched. The sequence then throws the error when the next
    /// page is requested.
    public let next: PageReference?
    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The URL of the page, after redirects.
    public let url: URL
    /// The source of the page: the network, or a cache.
    public let source: ResponseSource
}

extension Page: Sendable where Value: Sendable {}

extension Page: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value, the number, the URL and the next page, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "Page") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``. A dump shows no secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "value": value, "number": number, "url": SecretMask.text(of: url), "next": next?.description ?? "nil", "status": status,
                "headers": RequestSecrets.masked(headers, nil).unmaskedDescription,
            ])
    }
}

/// The pages of a list. One call fetches each page when it is requested, with the settings of the endpoint.
///
///     "issues(owner:name:)": .get("/repos/%%owner%%/%%name%%/issues").paged(by: .linkHeader),
///
///     func issues(owner: String, name: String) async throws -> Pages<[Issue]> { try await call(owner, name) }
///
///     for try await page in try await github.issues(owner: "swiftlang", name: "swift") { show(page.value) }
///
/// A page that can't be fetched or read throws the ``ServiceError`` of its call, and ends the sequence; earlier pages remain valid. A page
/// that was read before, a link to another origin, and more pages than the limit are errors of the kind `paging`. They are thrown when the
/// next page is requested, so that no page is lost.
///
/// Each iteration starts from the beginning. The sequence retains its client. Memory use doesn't depend on the number of pages, except for
/// eight bytes per page, which detect loops.
public struct Pages<Value: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page<Value>

    /// A page's value and outcome.
    typealias Fetched = (value: Value, outcome: PageTurn.Outcome)

    let client: WebServiceClient
    /// The attributes of the closure in which the sequence was made.
    private let attributes = CallAttributes.current
    private let call: @Sendable () async throws -> Value
    private var first: PageReference?
    private var prefetch: Int?
    private var limits: (pages: Int?, items: Int?)?

    init(_ client: WebServiceClient, _ call: @escaping @Sendable () async throws -> Value) {
        self.client = client
        self.call = call
    }

    /// Returns the pages from a stored reference onwards.
    public func starting(at reference: PageReference?) -> Pages {
        var copy = self
        copy.first = reference
        return copy
    }

    /// Returns the same pages, and fetches up to this many ahead: 0 or 1. The setting overrides that of the endpoint's style.
    public func prefetching(_ pages: Int = 1) -> Pages {
        var copy = self
        copy.prefetch = pages > 0 ? 1 : 0
        return copy
    }

    /// Returns the same pages with limits that override those of the endpoint's style. Exceeding a limit is an error.
    ///
    /// - Parameters:
    ///   - pages: The maximum number of pages, at least 1; `nil` for no limit.
    ///   - items: The maximum number of items in all pages together, at least 1; `nil` for no limit.
    public func limited(pages: Int? = nil, items: Int? = nil) -> Pages {
        var copy = self
        copy.limits = (pages.map { Swift.max($0, 1) }, items.map { Swift.max($0, 1) })
        return copy
    }

    /// Returns an iterator that begins at the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Fetches one page.
    fileprivate func fetch(_ reference: PageReference?) async throws -> Fetched {
        let turn = PageTurn(reference, countsItems: limits?.items != nil)
        let value = try await CallAttributes.$current.withValue(attributes ?? CallAttributes.current) {
            try await CallAttributes.$current.withValue(CallAttributes(client: client, [OfferedTurn(turn)])) { try await call() }
        }
        guard let outcome = turn.outcome else {
            throw ServiceError(
                call: CallIdentity(client: String(describing: type(of: client)), key: "pages(of:)", route: ""), stage: .declaration,
                kind: .paging, message: PagingError.noCall.description, cause: PagingError.noCall)
        }
        return (value, outcome)
    }

    /// Reads the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: Pages
        private var walk: PageWalk
        private var ahead: FetchAhead<Fetched>?

        fileprivate init(_ pages: Pages) {
            self.pages = pages
            walk = PageWalk(first: pages.first)
        }

        /// Returns the next page; `nil` after the last one, and after an error.
        ///
        /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
        public mutating func next() async throws -> Page<Value>? {
            let waiting = ahead
            ahead = nil
            guard let step = try walk.next() else { return nil }
            let (value, outcome) = if let waiting { try await waiting.result() } else { try await pages.fetch(step.reference) }
            walk.pass(outcome, limits: pages.limits ?? (outcome.style.pageLimit, outcome.style.itemLimit))
            if pages.prefetch ?? outcome.style.prefetch > 0, let step = walk.peek {
                ahead = FetchAhead { [pages] in try await pages.fetch(step.reference) }
            }
            return Page(
                value: value, number: walk.count, next: walk.peek?.reference, status: outcome.status, headers: outcome.headers,
                url: outcome.url, source: outcome.source)
        }
    }
}

extension Pages: Decodable where Value: Decodable {
    /// Throws an error, because the endpoint isn't paged.
    public init(from decoder: any Decoder) throws {
        throw SerializationError(.structure, PagingError.notPaged.description)
    }
}

extension Pages: SeriesResult where Value: Decodable {
    static func series(of call: SeriesCall) -> Pages {
        Pages(call.client) { try await call.value() }
    }
}

/// The way from page to page: the next step, the limits, and the detection of loops.
private struct PageWalk {
    struct Step {
        /// The place where the page begins; `nil` for the endpoint's own request.
        let reference: PageReference?
    }

    /// The number of pages so far.
    private(set) var count = 0
    private var items = 0
    private var step: Step?
    /// The reason why the page after the current one can't be fetched.
    private var failure: ServiceError?
    /// The hashes of the places that were read: eight bytes per page, however many there are.
    private var seen: Set<Int> = []
    private var content: Int?

    init(first: PageReference?) { step = Step(reference: first) }

    /// The next step without taking it, if there is one.
    var peek: Step? { step }

    /// Returns the next step, or `nil` after the last page. A step has no successor until its page is passed, so that any error ends the
    /// walk.
    mutating func next() throws -> Step? {
        if let failure {
            self.failure = nil
            throw failure
        }
        guard let step else { return nil }
        try Task.checkCancellation()
        self.step = nil
        if let reference = step.reference { seen.insert(reference.text.hashValue) }
        return step
    }

    /// Moves past a page.
    mutating func pass(_ outcome: PageTurn.Outcome, limits: (pages: Int?, items: Int?)) {
        count += 1
        if case .url? = outcome.next?.place { seen.insert(outcome.requested.absoluteString.hashValue) }
        items = items.addingReportingOverflow(outcome.count ?? 0).partialValue
        do throws(PagingError) {
            if let limit = limits.items, items > limit { throw .tooManyItems(limit: limit) }
            if let own = outcome.content, own == content { throw .repeatedPage(query: outcome.style.positionQuery) }
            content = outcome.content
            guard let next = outcome.next else {
                failure = outcome.failure
                return
            }
            guard !seen.contains(next.text.hashValue) else { throw .loop(next.text) }
            if let limit = limits.pages, count >= limit { throw .tooManyPages(limit: limit) }
            step = Step(reference: next)
        } catch {
            failure = outcome.refused(error)
        }
    }
}

/// A page that is fetched while the previous one is in use. The fetch is cancelled when the value is released.
package final class FetchAhead<Fetched: Sendable>: Sendable {
    private let task: Task<Fetched, any Error>

    package init(_ fetch: @escaping @Sendable () async throws -> Fetched) {
        task = Task { try await fetch() }
    }

    deinit { task.cancel() }

    /// The page, or the error of its fetch.
    package func result() async throws -> Fetched {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
