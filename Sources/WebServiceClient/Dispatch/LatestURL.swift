import Foundation

/// The URL of an endpoint's latest call, for the next one: a program that asks for the same again needn't have it read again, by which
/// Foundation takes a good part of the time of binding.
struct LatestURL: Sendable {
    private let latest = Locked<(parts: URLParts, url: URL)?>(nil)

    /// The URL of those parts, by the book.
    ///
    /// - Throws: ``InvalidRequest`` when they make none.
    func url(of parts: URLParts) throws -> URL {
        let known = latest.withLock { latest -> URL? in
            guard let latest, latest.parts == parts else { return nil }
            return latest.url
        }
        if let known { return known }
        let url = try parts.standardURL()
        latest.withLock { $0 = (parts, url) }
        return url
    }
}
