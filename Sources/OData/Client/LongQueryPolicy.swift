import Foundation

/// What to do with queries whose URL is so long that servers may refuse it.
///
/// As the body of a POST to the resource's `/$query` a query may have any length (URL Conventions 4.01, section 4.17).
public enum LongQueryPolicy: Sendable, Hashable {
    /// POST beyond 8,000 characters where the printer's version is 4.01, since few servers take a longer URL; else always GET.
    case automatic
    /// Always GET.
    case get
    /// POST where the URL, without the service root, has more characters than this. Not in V2, which has no `$query`.
    case post(beyond: Int)

    /// The resource's path and the options, where they are to be posted; `nil` where the URL is to be fetched.
    func posted(_ target: String, version: ODataVersion) -> (path: String, options: String)? {
        guard isExceeded(by: target, version: version), let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let path = target[..<mark]
        // Behind `$count` and its like the grammar allows no `$query`.
        guard let last = path.split(separator: "/").last,
            !last.hasPrefix("$") || last.hasPrefix("$filter") || last.hasPrefix("$crossjoin(")
        else { return nil }
        return (path + "/" + Self.segment, String(target[target.utf8.index(after: mark)...]))
    }

    /// Whether a URL is too long.
    func isExceeded(by target: String, version: ODataVersion) -> Bool {
        switch self {
        case .get: false
        case .automatic: version >= .v401 && target.utf8.count > 8_000
        case .post(let beyond): version >= .v4 && target.utf8.count > beyond
        }
    }

    private static let segment = "$query"

    /// The URL that the query would have been fetched from, which relative links of the answer begin at.
    static func base(of url: URL) -> URL {
        let text = url.absoluteString
        let path = text.prefix { $0 != "?" && $0 != "#" }
        guard path.hasSuffix("/" + segment) else { return url }
        return URL(string: String(path.dropLast(segment.count + 1)) + String(text[path.endIndex...])) ?? url
    }
}
