import Foundation

/// The place where a page begins. A program can store it and continue from there later, even in another process.
///
///     for try await page in customers.pages {
///         try await save(page.value, next: page.next)
///     }
///     …
///     for try await customer in customers.starting(at: stored) { … }
///
/// It belongs to an endpoint and its arguments, and contains no credentials. A reference to a URL is followed only on the service's origin,
/// even if it was changed while it was stored. Services may let references expire.
public struct PageReference: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        /// The URL of the page.
        case url(String)
        /// The cursor, or the identifier of the last item before the page.
        case cursor(String)
        /// The number of items before the page, or the page's number.
        case position(Int)
    }

    let place: Place

    /// The place as text, for the comparison of places.
    var text: String {
        switch place {
        case .url(let url): url
        case .cursor(let cursor): cursor
        case .position(let position): String(position)
        }
    }
}

extension PageReference: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, cursor, position
    }

    /// Reads a reference.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let url = try container.decodeIfPresent(String.self, forKey: .url) {
            place = .url(url)
        } else if let cursor = try container.decodeIfPresent(String.self, forKey: .cursor) {
            place = .cursor(cursor)
        } else {
            place = .position(try container.decode(Int.self, forKey: .position))
        }
    }

    /// Writes an object with one member: `url`, `cursor` or `position`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch place {
        case .url(let url): try container.encode(url, forKey: .url)
        case .cursor(let cursor): try container.encode(cursor, forKey: .cursor)
        case .position(let position): try container.encode(position, forKey: .position)
        }
    }
}

extension PageReference: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL with secrets masked, the cursor or the position.
    public var description: String { VisibleText.of(SecretMask.text(ofURL: text)) }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``. A dump shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}

/// Changes the query of a URL without touching its other items.
enum PageQuery {
    /// Returns the value of the first item with a name.
    static func value(_ name: String, in url: URL) -> String? {
        pairs(of: url).first { decoded($0.name) == name }.map { decoded($0.value ?? "") }
    }

    /// Returns the URL with one item of a name and a value, in place of all items of this name.
    static func setting(_ name: String, to value: String, in url: URL) -> URL? {
        var parts = URLText.Components(url.absoluteString)
        let item = URLEncoding.queryName(name) + "=" + URLEncoding.queryValue(value)
        var items: [String] = []
        var isSet = false
        for (raw, pair) in zip(rawItems(of: parts.query), pairs(of: url)) {
            guard decoded(pair.name) == name else {
                items.append(raw)
                continue
            }
            if !isSet { items.append(item) }
            isSet = true
        }
        if !isSet { items.append(item) }
        parts.query = items.joined(separator: "&")
        return URL(string: parts.text)
    }

    private static func rawItems(of query: String?) -> [String] {
        (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func pairs(of url: URL) -> [(name: String, value: String?)] {
        rawItems(of: URLText.Components(url.absoluteString).query).map { item in
            guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (item, nil) }
            return (String(item[..<equals]), String(item[item.utf8.index(after: equals)...]))
        }
    }

    /// The text with escapes decoded; unchanged if an escape is invalid.
    private static func decoded(_ text: String) -> String { URLEncoding.decode(text) ?? text }
}
