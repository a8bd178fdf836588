import Foundation
import WebServiceClient

/// The address behind a link that a service wrote.
enum NextLink {
    /// Resolves a link: relative ones against the page's context where that is on the same origin, else against the page's own URL.
    ///
    /// Nothing is appended and nothing re-encoded: only what can't stand in a URL at all gets percent-encoded.
    static func url(_ link: String, context: String?, page: URL) throws(ODataLinkError) -> URL {
        var base = page
        // A context on another origin is that of a proxy's inside, and no base for anything.
        if let context, let url = URL(string: context, relativeTo: page)?.absoluteURL, Origin(url) == Origin(page) {
            base = url
        }
        guard !link.isEmpty, let url = URL(string: link, relativeTo: base)?.absoluteURL, Origin(url) != nil else {
            throw .malformed(String(link.prefix(200)))
        }
        guard url.scheme == "https" || url.scheme == "http" else { throw .malformed(String(link.prefix(200))) }
        return url
    }

    /// Whether a link leads to another origin than the service's.
    ///
    /// - Throws: ``ODataLinkError`` where it does and may not.
    static func isForeign(_ url: URL, to service: Origin?, policy: ForeignLinkPolicy) throws(ODataLinkError) -> Bool {
        guard Origin(url) != service else { return false }
        guard policy != .refuse else {
            throw .foreignOrigin(Origin(url)?.description ?? "", service: service?.description ?? "an unknown service")
        }
        return true
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
