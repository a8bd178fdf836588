public import Foundation

/// Everything about a stored response but its body.
public struct CacheHead: Sendable {
    /// The key.
    public let key: CacheKey
    /// A random number that distinguishes the response from others with the same key.
    public let id: UInt64
    /// The status code.
    public internal(set) var status: Int
    /// The header fields, but for those that must not be stored (RFC 9111 §3.1).
    public internal(set) var headers: HTTPFields
    /// The date when the request was sent, or when the response was last validated.
    public internal(set) var requested: Date
    /// The date when the response arrived, or was last validated.
    public internal(set) var received: Date
    /// The tags of the endpoint.
    public let tags: [String]
    /// The endpoint's cache identifier.
    public let identifier: String?
    /// The number of bytes of the body.
    public internal(set) var bodyLength: Int64
    /// The number of the first byte and the length of the whole, if the body is a part of it (206).
    let part: Part?
    /// The request fields that select the response.
    let selection: [SelectingField]
    let httpVersion: String?
    /// The instant of `received`; `nil` if another process stored the response.
    var instant: MonotonicInstant?
    private(set) var freshness: CacheFreshness

    /// The place of a partial body.
    struct Part: Sendable, Hashable {
        /// The request's `Range`.
        let requested: String
        /// The number of the body's first byte.
        let first: Int64
        /// The length of the whole; `nil` if unknown.
        let total: Int64?
    }

    init(
        key: CacheKey, id: UInt64 = .random(in: .min ... .max), status: Int, headers: HTTPFields, requested: Date, received: Date,
        tags: [String] = [], identifier: String? = nil, bodyLength: Int64 = 0, part: Part? = nil, selection: [SelectingField] = [],
        httpVersion: String? = nil, instant: MonotonicInstant? = nil
    ) {
        self.key = key
        self.id = id
        self.status = status
        self.headers = headers
        self.requested = requested
        self.received = received
        self.tags = tags
        self.identifier = identifier
        self.bodyLength = bodyLength
        self.part = part
        self.selection = selection
        self.httpVersion = httpVersion
        self.instant = instant
        freshness = CacheFreshness(status: status, headers: headers, requested: requested, received: received)
    }

    /// Whether another response of the same key serves the same requests.
    public func selectsTheSame(as other: CacheHead) -> Bool {
        key == other.key && selection == other.selection && (part == nil) == (other.part == nil)
    }

    /// The seconds since the response arrived; infinite if the clock was set back (RFC 9111 §4.2.3).
    func residence(at now: CacheMoment) -> Double {
        if let instant { return max(0, instant.duration(to: now.instant) / .seconds(1)) }
        let seconds = now.date.timeIntervalSince(received)
        return seconds >= 0 ? seconds : seconds > -1 ? 0 : .infinity
    }

    /// The current age in seconds (RFC 9111 §4.2.3).
    func age(at now: CacheMoment) -> Double { freshness.initialAge + residence(at: now) }

    /// The fields for the caller: the stored ones with the current `Age`.
    func servedHeaders(at now: CacheMoment) -> HTTPFields {
        var headers = headers
        let age = age(at: now)
        headers[.age] = String(Int64(min(age.isFinite ? age : CacheControl.maximumSeconds, CacheControl.maximumSeconds)))
        return headers
    }

    // MARK: Storing and updating

    /// Fields that belong to one connection, or to a proxy, and aren't stored (RFC 9111 §3.1).
    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "te",
        "transfer-encoding", "upgrade", "trailer", "age",
    ]

    /// The fields of a response that are stored. `Age` isn't: each reuse computes it, and ``freshness`` has the arrived one.
    static func stored(_ headers: HTTPFields) -> HTTPFields {
        var dropped = connectionFields.subtracting(["age"])
        for value in headers[values: "Connection"] {
            for name in value.split(separator: ",") { dropped.insert(name.trimmingCharacters(in: .whitespaces).lowercased()) }
        }
        for name in CacheControl(in: headers).fieldNames("no-cache") { dropped.insert(name.canonicalName) }
        guard headers.contains(where: { dropped.contains($0.name.canonicalName) }) else { return headers }
        return HTTPFields(headers.filter { !dropped.contains($0.name.canonicalName) })
    }

    /// Fields that a 304 or a HEAD doesn't change, since the stored body depends on them (RFC 9111 §3.2).
    private static let bodyFields: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// Returns the head with the fields of a 304, or of the answer to a HEAD.
    func updated(by headers: HTTPFields, requested: Date, received: Date, instant: MonotonicInstant?) -> CacheHead {
        let news = HTTPFields(Self.stored(headers).filter { !Self.bodyFields.contains($0.name.canonicalName) })
        var fields = self.headers
        // The age of the stored response counts no longer.
        fields[.age] = nil
        fields.replace(with: news)
        if !news.contains(.date) { fields[.date] = HTTPDate.text(of: received) }
        return CacheHead(
            key: key, id: id, status: status, headers: fields, requested: requested, received: received, tags: tags,
            identifier: identifier, bodyLength: bodyLength, part: part, selection: selection, httpVersion: httpVersion, instant: instant)
    }

    /// Returns the head as one that is stale from now on.
    func outdated() -> CacheHead {
        var copy = self
        copy.headers[.cacheControl] = (headers[.cacheControl].map { $0 + ", " } ?? "") + "no-cache"
        copy.freshness = CacheFreshness(status: status, headers: copy.headers, requested: requested, received: received)
        return copy
    }
}

/// A stored response: its head, and its body on demand.
public struct CacheEntry: Sendable {
    /// The head.
    public let head: CacheHead
    private let read: @Sendable (Range<Int64>) -> ResponseBody

    /// Creates an entry.
    ///
    /// - Parameter read: Returns a range of the body's bytes. The range is within the body, and may be empty.
    public init(_ head: CacheHead, read: @escaping @Sendable (Range<Int64>) -> ResponseBody) {
        self.head = head
        self.read = read
    }

    /// Returns the same body with another head.
    func with(_ head: CacheHead) -> CacheEntry { CacheEntry(head, read: read) }

    /// The whole body.
    func body() -> ResponseBody { read(0..<max(0, head.bodyLength)) }

    /// A range of the body.
    func body(_ range: Range<Int64>) -> ResponseBody { read(range.clamped(to: 0..<max(0, head.bodyLength))) }
}
