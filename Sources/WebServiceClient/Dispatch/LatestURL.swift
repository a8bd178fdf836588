import Foundation

/// The URL of a declared endpoint's latest call, for the next one: where that asks for the same, the URL isn't parsed again, which takes a good
/// part of the time of binding. With it the arguments in that URL stay in memory, and are shown nowhere.
struct LatestURL: Sendable {
    private let latest = Locked<(parts: URLParts, url: URL)?>(nil)

    /// The URL of those parts, if the latest call had them.
    func known(_ parts: URLParts) -> URL? {
        latest.withLock { latest in
            guard let latest, latest.parts == parts else { return nil }
            return latest.url
        }
    }

    /// The URL of those parts, by the book.
    ///
    /// - Throws: ``InvalidRequest`` when they make none.
    func url(of parts: URLParts) throws -> URL {
        if let known = known(parts) { return known }
        let url = try parts.standardURL()
        latest.withLock { $0 = (parts, url) }
        return url
    }
}
