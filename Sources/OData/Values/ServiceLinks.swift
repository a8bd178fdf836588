import Foundation
public import WebServiceClient

/// Resolution and routing of links that a service sends.
enum NextLink {
    /// Resolves a link. A relative link is resolved against the page's context, which itself is resolved against the page's URL.
    ///
    /// Nothing is appended or re-encoded: only characters that are invalid in a URL are percent-encoded.
    ///
    /// - Parameter root: The service's root, to which links without a context are relative in version 2; `nil` in later versions.
    static func url(_ link: String, context: String?, page: URL, root: URL? = nil) throws(ODataLinkError) -> URL {
        let ofRoot = context == nil ? root.flatMap { resolved(link, below: $0, page: page) } : nil
        guard let url = ofRoot ?? resolved(link, against: base(context: context, page: page)), Origin(url) != nil,
            url.scheme == "https" || url.scheme == "http"
        else { throw .malformed(String(SecretMask.text(ofURL: link).prefix(200))) }
        return url
    }

    /// Returns the URL of a link that is relative to a root; `nil` if it isn't below the root, has no path, or comes from a page elsewhere.
    private static func resolved(_ link: String, below root: URL, page: URL) -> URL? {
        let start = root.absoluteString.prefix { $0 != "?" }
        guard page.absoluteString.hasPrefix(start), let url = resolved(link, against: root), url.absoluteString.hasPrefix(start),
            url.absoluteString.utf8.count > start.utf8.count, !link.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("?")
        else { return nil }
        return url
    }

    /// Returns the base of a payload's relative links (JSON Format, section 4.4).
    ///
    /// A context on another host comes from inside a proxy and is ignored. If only its scheme or port differ, its path is used.
    static func base(context: String?, page: URL) -> URL {
        guard let context, let url = resolved(context, against: page), let origin = Origin(url), let own = Origin(page) else { return page }
        if origin == own { return url }
        return origin.host == own.host ? rebased(url, on: own) ?? page : page
    }

    /// Resolves a link against a base by RFC 3986, section 5; returns `nil` if it isn't a URL. Only characters invalid in a URL are
    /// percent-encoded.
    ///
    /// A colon ends a scheme only after valid scheme characters: `Items('a:b')` is a path. White space around the link is ignored.
    static func resolved(_ link: String, against base: URL?) -> URL? {
        let link = link.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !link.isEmpty else { return nil }
        var parts = URLText.Components(repaired(link))
        if parts.scheme == nil, let base {
            return URL(string: URLText.resolve(parts.text, against: base.absoluteString))
        }
        parts.scheme = parts.scheme?.lowercased()
        // Foundation rejects a relative path with a colon in its first segment.
        if parts.scheme == nil, parts.authority == nil, parts.path.prefix(while: { $0 != "/" }).contains(":") {
            parts.path = "./" + parts.path
        }
        return URL(string: parts.text)
    }

    /// Encodes the characters of a link that are invalid in a URL. If any were left, Foundation would encode the existing escapes again.
    /// The host is left to Foundation, which translates names beyond ASCII.
    private static func repaired(_ link: String) -> String {
        var parts = URLText.Components(link)
        parts.path = URLEncoding.repaired(parts.path, allowing: .path)
        parts.query = parts.query.map { URLEncoding.repaired($0, allowing: .query) }
        parts.fragment = parts.fragment.map { URLEncoding.repaired($0, allowing: .fragment) }
        return parts.text
    }

    /// Returns the URL to follow for a link, and whether it is on another origin than the service's.
    ///
    /// - Throws: ``ODataLinkError`` if it leads to another origin and the policy refuses that.
    static func route(
        _ url: URL, service: Origin?, policy: ForeignLinkPolicy
    ) throws(ODataLinkError) -> (url: URL, isForeign: Bool) {
        guard Origin(url) != service else { return (url, false) }
        switch policy {
        case .followWithoutCredentials:
            return (url, true)
        case .rebase:
            if let service, let rebased = rebased(url, on: service) { return (rebased, false) }
        case .refuse:
            break
        }
        throw .foreignOrigin(Origin(url)?.description ?? "", service: service?.description ?? "an unknown service")
    }

    /// Returns the same path and query, byte for byte, on the service's origin.
    private static func rebased(_ url: URL, on service: Origin) -> URL? {
        let text = url.absoluteString
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let path = text[scheme.upperBound...].drop { !"/?#".contains($0) }
        return URL(string: service.description + path)
    }

    /// Returns a link from its payload: a string or, in some V2 services, an object with one.
    static func text(_ value: ODataValue) -> String? {
        value.string ?? value["uri"]?.string ?? value["__next"]?.string
    }

    /// Returns the beginning of a link, without parts that may be secret.
    static func shown(_ link: String) -> String {
        "'" + link.prefix { $0 != "?" }.prefix(100) + "'"
    }

    /// Returns a link without parts that may be secret.
    static func shown(_ url: URL) -> String {
        (Origin(url)?.description ?? "") + url.path(percentEncoded: true)
    }
}

/// The reason why a link of the service isn't followed.
public enum ODataLinkError: DescribedError, Sendable, Hashable {
    /// The link isn't a URL.
    case malformed(String)
    /// The link leads to another origin than the service's.
    case foreignOrigin(String, service: String)
    /// The link leads to a page that was already read.
    case loop(String)
    /// A relation wasn't expanded, and the service sent no link for it.
    case notLoaded

    /// A sentence for people. Queries and credentials of links are omitted, as they may contain secrets.
    public var description: String { VisibleText.of(sentence) }

    private var sentence: String {
        switch self {
        case .malformed(let link):
            "The service's link '\(SecretMask.text(ofURL: link))' isn't a URL."
        case .foreignOrigin(let origin, let service):
            "The service's link leads to \(origin), not to \(service): it isn't followed, since the other server would learn of the "
                + "query. If you trust it, set foreignLinks to followWithoutCredentials."
        case .loop(let link):
            "The service's next link \(SecretMask.text(ofURL: link)) leads to a page that was already read: following it would never end."
        case .notLoaded:
            "The relation wasn't loaded, and the service gave no link to it: expand it in the query, or ask for full metadata."
        }
    }
}

/// The policy for links of the service that lead to another origin.
public enum ForeignLinkPolicy: String, Sendable, Hashable, CaseIterable {
    /// Fails with ``ODataLinkError/foreignOrigin(_:service:)``.
    case refuse
    /// Follows the link without the client's credentials and headers.
    case followWithoutCredentials
    /// Uses the link's path and query on the service's own origin. For services that don't know of the proxy in front of them and write
    /// links with the internal host, port or scheme.
    case rebase
}
