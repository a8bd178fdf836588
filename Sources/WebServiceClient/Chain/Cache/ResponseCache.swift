public import Foundation

/// A private cache of responses (RFC 9111): set it as ``WebServiceClient/Configuration/cache``.
///
///     let cache = ResponseCache()
///     let github = GitHub(serviceRoot: "https://api.github.com") { $0.cache = cache }
///     …
///     await cache.flush(tag: "issues")
///
/// Copies share the same responses. Several clients may share a cache: responses to calls with credentials are kept apart by identity.
public struct ResponseCache: Sendable {
    let store: any CacheStore
    let shared = Shared()

    /// The state that copies share.
    final class Shared: Sendable {
        struct State {
            var statistics = CacheStatistics()
            /// The number of invalidations so far.
            var invalidations: UInt64 = 0
            /// The number of the last invalidation of a URL.
            var invalidated: [String: UInt64] = [:]
            /// The number of the last invalidation that may have concerned any URL.
            var flushed: UInt64 = 0
            var revalidating: Set<CacheKey> = []
            var variances = SearchVariances()
        }

        let state = Locked(State())
    }

    /// Creates a cache.
    ///
    /// - Parameter store: Where the responses are kept. Default: in memory, up to 32 MiB.
    public init(store: any CacheStore = MemoryCacheStore()) {
        self.store = store
    }

    /// Creates a cache that keeps its responses in a folder, also for the next run of the program and for other processes.
    ///
    /// - Parameters:
    ///   - directory: The folder. It is created, private to the user, at the first use.
    ///   - limit: The greatest number of bytes. Default 256 MiB.
    public init(directory: URL, limit: Int = 256 * 1024 * 1024) {
        self.init(store: DiskCacheStore(directory: directory, limit: limit))
    }

    // MARK: Looking

    /// A stored response, as a program sees it.
    public struct Entry: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The URL without its fragment.
        public let url: String
        /// The status code.
        public let status: Int
        /// The endpoint's cache identifier.
        public let identifier: String?
        /// The endpoint's tags.
        public let tags: [String]
        /// The date when the response arrived, or was last validated.
        public let received: Date
        /// Until when the response is fresh by the server's fields. In the past for one that must be validated.
        public let freshUntil: Date
        /// The number of bytes of the body.
        public let bodyLength: Int64

        init(_ head: CacheHead) {
            url = head.key.url
            status = head.status
            identifier = head.identifier
            tags = head.tags
            received = head.received
            let freshness = head.freshness
            let rest = freshness.isAlwaysValidated ? 0 : freshness.lifetime - freshness.initialAge
            freshUntil = head.received.addingTimeInterval(rest)
            bodyLength = head.bodyLength
        }

        /// The status and the URL, with secrets masked.
        public var description: String { "\(status) \(SecretMask.text(ofURL: url))" }

        /// The status, the masked URL, and what the program declared.
        public var customMirror: Mirror {
            Mirror(
                self,
                children: [
                    "status": status, "url": SecretMask.text(ofURL: url), "identifier": identifier ?? "nil", "tags": tags,
                    "received": received, "freshUntil": freshUntil, "bodyLength": bodyLength,
                ])
        }
    }

    /// The stored responses, the newest first.
    public func entries() async -> [Entry] {
        await entries { _ in true }
    }

    /// The stored responses of an endpoint's cache identifier.
    public func entries(identifier: String) async -> [Entry] {
        await entries { $0.identifier == identifier }
    }

    /// The stored responses with a tag.
    public func entries(tag: String) async -> [Entry] {
        await entries { $0.tags.contains(tag) }
    }

    /// The stored responses whose URL begins with a text.
    public func entries(urlPrefix: String) async -> [Entry] {
        await entries { $0.key.url.hasPrefix(urlPrefix) }
    }

    private func entries(_ isListed: (CacheHead) -> Bool) async -> [Entry] {
        await store.heads().filter(isListed).sorted { $0.received > $1.received }.map(Entry.init)
    }

    /// Counts since the cache was created, and the bytes that it holds.
    public var statistics: CacheStatistics {
        var statistics = shared.state.withLock { $0.statistics }
        statistics.storedBytes = store.byteCount
        return statistics
    }

    // MARK: Removing

    /// Removes everything.
    ///
    /// - Returns: The number of responses removed.
    @discardableResult public func flush() async -> Int {
        await flush { _ in true }
    }

    /// Removes the responses of an endpoint's cache identifier.
    ///
    /// - Returns: The number of responses removed.
    @discardableResult public func flush(identifier: String) async -> Int {
        await flush { $0.identifier == identifier }
    }

    /// Removes the responses with a tag.
    ///
    /// - Returns: The number of responses removed.
    @discardableResult public func flush(tag: String) async -> Int {
        await flush { $0.tags.contains(tag) }
    }

    /// Removes the responses whose URL begins with a text. Case counts.
    ///
    /// - Returns: The number of responses removed.
    @discardableResult public func flush(urlPrefix: String) async -> Int {
        await flush { $0.key.url.hasPrefix(urlPrefix) }
    }

    private func flush(_ isRemoved: @escaping @Sendable (CacheHead) -> Bool) async -> Int {
        // Responses that are being received are dropped, since they may be as old as those that are removed.
        shared.state.withLock { state in
            state.invalidations += 1
            state.flushed = state.invalidations
        }
        return await store.removeAll(where: isRemoved)
    }

    /// Removes the responses of URLs after a successful call with an unsafe method (RFC 9111 §4.4).
    func invalidate(_ urls: [String]) {
        let urls = shared.state.withLock { state in
            let urls = urls + urls.compactMap { state.variances.canonical($0) }
            state.invalidations += 1
            if state.invalidated.count >= 1_000 {
                state.invalidated = [:]
                state.flushed = state.invalidations
            }
            for url in urls { state.invalidated[url] = state.invalidations }
            return urls
        }
        for url in urls { store.removeAll(ofURL: url) }
    }

    /// The number of invalidations so far, which a request notes when it is sent.
    var mark: UInt64 { shared.state.withLock { $0.invalidations } }

    /// Whether a URL was invalidated since a mark was taken: a response that was requested before may be out of date.
    func wasInvalidated(_ url: String, since mark: UInt64) -> Bool {
        shared.state.withLock { max($0.flushed, $0.invalidated[url] ?? 0) > mark }
    }

    /// The URL under which a response to a URL is stored if it has a `No-Vary-Search`, if that is another one.
    func canonical(_ url: String) -> String? {
        shared.state.withLock { $0.variances.canonical(url) }
    }

    /// Notes that a response has a `No-Vary-Search`.
    func note(_ variance: NoVarySearch, of url: String) {
        shared.state.withLock { $0.variances.note(variance, of: url) }
    }

    // MARK: Counting

    func count(_ change: (inout CacheStatistics) -> Void) {
        shared.state.withLock { change(&$0.statistics) }
    }

    /// Begins the validation of a key in the background, unless one is running.
    func beginsRevalidation(of key: CacheKey) -> Bool {
        shared.state.withLock { $0.revalidating.insert(key).inserted }
    }

    func endRevalidation(of key: CacheKey) {
        _ = shared.state.withLock { $0.revalidating.remove(key) }
    }
}

extension ResponseCache: CustomStringConvertible, CustomReflectable {
    /// The store and the statistics.
    public var description: String { "ResponseCache(\(type(of: store)), \(statistics))" }

    /// Shows no responses, which may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["store": "\(type(of: store))", "statistics": statistics]) }
}

/// The counters of a ``ResponseCache``.
public struct CacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// Answers from the cache that were fresh.
    public var hits = 0
    /// Answers from the cache that the server confirmed.
    public var validations = 0
    /// Answers from the network, for requests that the cache could have answered.
    public var misses = 0
    /// Answers from the cache that may have been out of date.
    public var stale = 0
    /// Responses stored.
    public var stored = 0
    /// Bytes of bodies that didn't cross the network.
    public var savedBytes: Int64 = 0
    /// Bytes that the store holds now.
    public var storedBytes = 0

    /// Creates empty statistics.
    public init() {}

    /// The counts on one line.
    public var description: String {
        "\(hits) hits, \(validations) validations, \(misses) misses, \(stale) stale, \(stored) stored, \(savedBytes) bytes saved, "
            + "\(storedBytes) bytes held"
    }
}
