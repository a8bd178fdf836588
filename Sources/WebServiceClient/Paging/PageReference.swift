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
