import Foundation
public import WebServiceClient

/// The address behind a link that a service wrote.
enum NextLink {
    /// Resolves a link: relative ones against the page's context, which itself is resolved against the page's own URL.
    ///
    /// Nothing is appended and nothing re-encoded: only what can't stand in a URL at all gets percent-encoded.
    static func url(_ link: String, context: String?, page: URL) throws(ODataLinkError) -> URL {
        guard let url = resolved(link, against: base(context: context, page: page)), Origin(url) != nil,
            url.scheme == "https" || url.scheme == "http"
        else { throw .malformed(String(link.prefix(200))) }
        return url
    }

    /// What relative links of a payload begin at (JSON Format, section 4.4).
    ///
    /// A context on another host is that of a proxy's inside, and no base for anything; one with the scheme or the port of such an inside says
    /// the path at least.
    static func base(context: String?, page: URL) -> URL {
        guard let context, let url = resolved(context, against: page), let origin = Origin(url), let own = Origin(page) else { return page }
        if origin == own { return url }
        return origin.host == own.host ? rebased(url, on: own) ?? page : page
    }

    /// A link as a URL, seen from a base by RFC 3986, section 5; `nil` where it makes none. Only what can't stand in a URL is percent-encoded.
    ///
    /// A colon is a scheme's end only behind what is spelled like a scheme: `Items('a:b')` is a path. Blanks around the link don't count.
    static func resolved(_ link: String, against base: URL?) -> URL? {
        let link = link.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !link.isEmpty else { return nil }
        var parts = URLText.Components(repaired(link))
        if parts.scheme == nil, let base {
            return URL(string: URLText.resolve(parts.text, against: base.absoluteString))
        }
        parts.scheme = parts.scheme?.lowercased()
        // A relative path whose first segment has a colon is none for Foundation.
        if parts.scheme == nil, parts.authority == nil, parts.path.prefix(while: { $0 != "/" }).contains(":") {
            parts.path = "./" + parts.path
        }
        return URL(string: parts.text)
    }

    /// The link with what can't stand in a URL encoded. Where there is anything such, Foundation would encode the escapes of the rest once
    /// more. The host stays: names beyond ASCII are its to translate.
    private static func repaired(_ link: String) -> String {
        var parts = URLText.Components(link)
        parts.path = URLEncoding.repaired(parts.path, allowing: .path)
        parts.query = parts.query.map { URLEncoding.repaired($0, allowing: .query) }
        parts.fragment = parts.fragment.map { URLEncoding.repaired($0, allowing: .fragment) }
        return parts.text
    }

    /// Where a link is followed to, and whether that is another origin than the service's.
    ///
    /// - Throws: ``ODataLinkError`` where it leads to another origin and may not.
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

    /// The same path and query, byte for byte, on the service's origin.
    private static func rebased(_ url: URL, on service: Origin) -> URL? {
        let text = url.absoluteString
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let path = text[scheme.upperBound...].drop { !"/?#".contains($0) }
        return URL(string: service.description + path)
    }

    /// A link as services write it: a text, or in some V2 services an object around one.
    static func text(_ value: ODataValue) -> String? {
        value.string ?? value["uri"]?.string ?? value["__next"]?.string
    }

    /// The link's beginning, without what may be secret.
    static func shown(_ link: String) -> String {
        "'" + link.prefix { $0 != "?" }.prefix(100) + "'"
    }

    /// The link without what may be secret.
    static func shown(_ url: URL) -> String {
        (Origin(url)?.description ?? "") + url.path(percentEncoded: true)
    }
}

/// Why a link that the service sent isn't followed.
public enum ODataLinkError: DescribedError, Sendable, Hashable {
    /// The link isn't a URL.
    case malformed(String)
    /// The link leads to another origin than the service's.
    case foreignOrigin(String, service: String)
    /// The link leads to a page that was read before.
    case loop(String)
    /// A relation wasn't expanded, and the service gave no link for it.
    case notLoaded

    /// A sentence for people. Query and credentials of links are left out, as they may hold secrets.
    public var description: String { VisibleText.of(sentence) }

    private var sentence: String {
        switch self {
        case .malformed(let link):
            "The service's next link '\(SecretMask.text(ofURL: link))' isn't a URL."
        case .foreignOrigin(let origin, let service):
            "The service's next link leads to \(origin), not to \(service): it isn't followed, since the other server would learn of the "
                + "query. Set foreignLinks to followWithoutCredentials if it is to be trusted."
        case .loop(let link):
            "The service's next link \(SecretMask.text(ofURL: link)) leads to a page that was read before: following it would never end."
        case .notLoaded:
            "The relation wasn't loaded, and the service gave no link to it: expand it in the query, or ask for full metadata."
        }
    }
}

/// What to do with links of the service that lead to another origin.
public enum ForeignLinkPolicy: String, Sendable, Hashable, CaseIterable {
    /// Fail with ``ODataLinkError/foreignOrigin(_:service:)``.
    case refuse
    /// Follow them, without the client's credentials and headers.
    case followWithoutCredentials
    /// Take their path and query on the service's own origin: for services that don't know of the proxy before them, and write links with
    /// the host, the port or the scheme inside.
    case rebase
}
