import Foundation
import WebServiceClient

/// The address behind a link that a service wrote.
enum NextLink {
    /// Resolves a link: relative ones against the page's context where that is on the same origin, else against the page's own URL.
    ///
    /// Nothing is appended and nothing re-encoded: only what can't stand in a URL at all gets percent-encoded.
    static func url(_ link: String, context: String?, page: URL) throws(ODataLinkError) -> URL {
        let base = base(context: context, page: page)
        guard !link.isEmpty, let url = URL(string: repaired(link), relativeTo: base)?.absoluteURL, Origin(url) != nil else {
            throw .malformed(String(link.prefix(200)))
        }
        guard url.scheme == "https" || url.scheme == "http" else { throw .malformed(String(link.prefix(200))) }
        return url
    }

    /// What relative links of a payload begin at (JSON Format, section 4.4).
    static func base(context: String?, page: URL) -> URL {
        // A context on another origin is that of a proxy's inside, and no base for anything.
        guard let context, let url = URL(string: repaired(context), relativeTo: page)?.absoluteURL, Origin(url) == Origin(page)
        else { return page }
        return url
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
