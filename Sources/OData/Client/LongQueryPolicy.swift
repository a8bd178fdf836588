import Foundation

/// The method for queries whose URL is so long that servers may refuse it.
///
/// A query that is posted to the resource's `/$query` may have any length (URL Conventions 4.01, section 4.17).
public enum LongQueryPolicy: Sendable, Hashable {
    /// POST above 8,000 characters if the printer's version is 4.01, since few servers accept a longer URL; otherwise GET.
    case automatic
    /// Always GET.
    case get
    /// POST if the URL, without the service root, has more characters than this. Always GET in version 2, which has no `$query`.
    case post(beyond: Int)

    /// Returns the resource's path and the options if the query is posted, or `nil` if it is fetched by GET.
    func posted(_ target: String, version: ODataVersion) -> (path: String, options: String)? {
        guard isExceeded(by: target, version: version), let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let path = target[..<mark]
        // The grammar doesn't allow `$query` after `$count` and the like.
        guard let last = path.split(separator: "/").last,
            !last.hasPrefix("$") || last.hasPrefix("$filter") || last.hasPrefix("$crossjoin(")
        else { return nil }
        return (path + "/" + Self.segment, String(target[target.utf8.index(after: mark)...]))
    }

    /// Returns whether a URL is too long.
    func isExceeded(by target: String, version: ODataVersion) -> Bool {
        switch self {
        case .get: false
        case .automatic: version >= .v401 && target.utf8.count > 8_000
        case .post(let beyond): version >= .v4 && target.utf8.count > beyond
        }
    }

    private static let segment = "$query"

    /// Returns the URL of the query before it was posted, the base of the response's relative links.
    static func base(of url: URL) -> URL {
        let text = url.absoluteString
        // By bytes, because each response asks.
        let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let ending = "/" + segment
        guard path.suffix(ending.utf8.count).elementsEqual(ending.utf8) else { return url }
        return URL(string: String(Substring(path.dropLast(ending.utf8.count)) + text[path.endIndex...])) ?? url
    }
}
