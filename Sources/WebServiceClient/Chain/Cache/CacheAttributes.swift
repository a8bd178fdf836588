/// How the responses of an endpoint are cached, if its client has a ``ResponseCache``.
///
///     "rates()": .get("/rates").cached(for: .seconds(300))
///     "balance()": .get("/balance").uncached()
///
/// The attribute may be set for a client (`$0.attributes[EndpointCaching.self] = .off`), a class, an endpoint and a call.
public struct EndpointCaching: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    enum Rule: Sendable, Hashable, Codable {
        case byServer
        case off
        case lifetime(Duration)
    }

    let rule: Rule

    /// The server's fields decide (RFC 9111): the default.
    public static let byServer = EndpointCaching(rule: .byServer)
    /// Responses are neither stored nor reused. Successful calls with unsafe methods still invalidate.
    public static let off = EndpointCaching(rule: .off)

    /// Responses are fresh for a duration from their arrival, whatever the server's fields say, for services that send none or wrong ones.
    /// Only `no-store` and `Vary` are obeyed, and only responses with the statuses 200, 203, 204, 300, 301 and 308 are kept that long.
    ///
    /// - Parameter duration: More than zero.
    public static func lifetime(_ duration: Duration) -> EndpointCaching { EndpointCaching(rule: .lifetime(duration)) }

    /// `byServer`, `off`, or the lifetime.
    public var description: String {
        switch rule {
        case .byServer: "EndpointCaching.byServer"
        case .off: "EndpointCaching.off"
        case .lifetime(let duration): "EndpointCaching.lifetime(\(duration.text))"
        }
    }

    /// The lifetime in seconds; `nil` if the server decides.
    var seconds: Double? {
        guard case .lifetime(let duration) = rule else { return nil }
        return duration.bounded / .seconds(1)
    }
}

extension EndpointCaching {
    package init?(described text: String) {
        switch text {
        case Self.byServer.description: self = .byServer
        case Self.off.description: self = .off
        default:
            guard let duration = text.inside("EndpointCaching.lifetime(").flatMap({ Duration(text: $0) }) else { return nil }
            self = .lifetime(duration)
        }
    }
}

/// The way in which a call uses the cache.
///
///     let now = try await client.with(CacheMode.reload) { try await $0.rates() }
public enum CacheMode: String, EndpointAttribute, PortableAttribute, Hashable, Codable, CaseIterable {
    /// Uses a stored response where the rules allow it.
    case standard
    /// Asks the server for the whole response, and stores it.
    case reload
    /// Asks the server whether the stored response is current, even if it is fresh; not if it is `immutable` (RFC 8246).
    case revalidate
    /// Sends nothing, whatever the method: without a usable stored response, the response is a 504 (RFC 9111 §5.2.1.7). So are all
    /// responses of a client without a cache, and of endpoints that aren't cached.
    case onlyCached
    /// Neither reads nor writes the cache.
    case noStore
}

/// Tags of an endpoint's stored responses, for ``ResponseCache/flush(tag:)``.
public struct CacheTags: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The tags. Any texts but empty ones.
    public var names: [String]

    /// Creates a set of tags.
    public init(_ names: String...) {
        self.names = names
    }

    /// The tags, separated by commas. A tag with a comma or a quotation mark is in quotation marks.
    public var description: String {
        let texts = names.map { $0.isEmpty ? "\"\"" : $0.quoted(ifContaining: ",\"") }
        return "CacheTags(\(texts.joined(separator: ", ")))"
    }

    package init?(described text: String) {
        guard let texts = text.inside("CacheTags(")?.listed(nesting: false) else { return nil }
        names = texts.map { $0.literalText ?? String($0) }
    }
}

/// Uses stored responses while the server can't be reached.
///
///     $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(86_400))
///
/// If a request fails in the transport (no connection, no host, no answer in time), a stored response is used even if it is stale; its
/// ``ServiceResponse/source`` is `stale`. A cancelled call is never answered from the cache, and a response with `no-cache` or
/// `must-revalidate` isn't used stale, unless the endpoint has its own lifetime.
public struct OfflineCaching: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The greatest age of a stored response.
    public var maximumAge: Duration

    /// Creates the setting.
    ///
    /// - Parameter maximumAge: The greatest age; more than zero.
    public init(upTo maximumAge: Duration) {
        self.maximumAge = maximumAge
    }

    /// The greatest age.
    public var description: String { "OfflineCaching(upTo: \(maximumAge.text))" }

    package init?(described text: String) {
        guard let age = text.inside("OfflineCaching(upTo: ").flatMap({ Duration(text: $0) }) else { return nil }
        maximumAge = age
    }
}
