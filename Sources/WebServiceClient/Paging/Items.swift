/// The items of all pages of a list. A page is fetched when its first item is requested.
///
///     "issues(owner:name:)": .get("/repos/%%owner%%/%%name%%/issues").paged(by: .linkHeader),
///
///     func issues(owner: String, name: String) async throws -> Items<Issue> { try await call(owner, name) }
///
///     for try await issue in try await github.issues(owner: "swiftlang", name: "swift") { show(issue) }
///
/// See ``Pages`` for its errors. One page is in memory, or two if a page is fetched ahead.
public struct Items<Element: Sendable>: AsyncSequence, Sendable {
    /// The pages of the items, whose references a program can store to continue later.
    public let pages: Pages<[Element]>

    /// Returns the items from a stored reference onwards.
    public func starting(at reference: PageReference?) -> Items { Items(pages: pages.starting(at: reference)) }

    /// Returns the same items, and fetches up to this many pages ahead: 0 or 1.
    public func prefetching(_ pages: Int = 1) -> Items { Items(pages: self.pages.prefetching(pages)) }

    /// Returns the same items with limits that override those of the endpoint's style. Exceeding a limit is an error.
    ///
    /// - Parameters:
    ///   - pages: The maximum number of pages, at least 1; `nil` for no limit.
    ///   - items: The maximum number of items, at least 1; `nil` for no limit.
    public func limited(pages: Int? = nil, items: Int? = nil) -> Items { Items(pages: self.pages.limited(pages: pages, items: items)) }

    /// Returns an iterator that begins at the first item.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

    /// Reads the items.
    public struct Iterator: AsyncIteratorProtocol {
        private var pages: Pages<[Element]>.Iterator
        private var page: [Element] = []
        private var position = 0

        fileprivate init(pages: Pages<[Element]>.Iterator) { self.pages = pages }

        /// Returns the next item; `nil` after the last one, and after an error. A page without items isn't the end.
        ///
        /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
        public mutating func next() async throws -> Element? {
            while position == page.count {
                // The old page is released before the next one is fetched.
                (page, position) = ([], 0)
                guard let next = try await pages.next() else { return nil }
                page = next.value
            }
            defer { position += 1 }
            return page[position]
        }
    }
}

extension Items: Decodable where Element: Decodable {
    /// Throws an error, because the endpoint isn't paged.
    public init(from decoder: any Decoder) throws {
        pages = try Pages(from: decoder)
    }
}

extension Items: SeriesResult where Element: Decodable {
    static func series(of call: SeriesCall) -> Items { Items(pages: .series(of: call)) }
}

extension ServiceClient {
    /// Returns the pages of a call whose endpoint declares ``EndpointDescriptor/paged(by:)`` or gets a ``PagingStyle`` as an attribute. The
    /// closure runs once for each page, and its first call with this client fetches that page.
    ///
    ///     for try await page in github.pages(of: { try await $0.issues(owner: "swiftlang", name: "swift") }) { show(page.value) }
    ///
    /// - Parameter call: Makes the call.
    public func pages<Value: Sendable>(of call: @escaping @Sendable (Self) async throws -> Value) -> Pages<Value> {
        Pages(self) { try await call(self) }
    }

    /// Returns the items of all pages of a call whose endpoint declares ``EndpointDescriptor/paged(by:)`` or gets a ``PagingStyle`` as an
    /// attribute. The closure runs once for each page, and its first call with this client fetches that page.
    ///
    ///     for try await issue in github.items(of: { try await $0.issues(owner: "swiftlang", name: "swift") }) { show(issue) }
    ///
    /// - Parameter call: Makes the call, which returns a page's items.
    public func items<Element: Sendable>(of call: @escaping @Sendable (Self) async throws -> [Element]) -> Items<Element> {
        Items(pages: pages(of: call))
    }
}

extension ServiceCall {
    /// Declares how the list is split into pages: see ``EndpointDescriptor/paged(by:)``.
    ///
    ///     let users = client.http.get("/users").paged(by: .linkHeader).items(User.self)
    public func paged(by style: PagingStyle) -> ServiceCall {
        describing { $0.paged(by: style) }
    }

    /// Returns the pages of the call, which must declare ``paged(by:)``. Each page is fetched when it is requested.
    public func pages<Value: Decodable & Sendable>(_ type: Value.Type = Value.self) -> Pages<Value> {
        Pages(client) { try await value() }
    }

    /// Returns the items of all pages of the call, which must declare ``paged(by:)``.
    public func items<Element: Decodable & Sendable>(_ type: Element.Type = Element.self) -> Items<Element> {
        Items(pages: pages([Element].self))
    }
}
