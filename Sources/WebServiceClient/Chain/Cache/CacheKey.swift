import Foundation

/// The key of stored responses: a URL, and whose responses they are.
///
/// The responses of a key differ in the request fields that their `Vary` names.
public struct CacheKey: Sendable, Hashable {
    /// Whose responses these are: a digest of the identity of the authentication provider, of the cookie jar, and of the request's own
    /// credentials. Empty for requests without any.
    public let partition: String
    /// The URL without its fragment; the origin is in its normal form.
    public let url: String

    /// Creates a key.
    public init(partition: String = "", url: String) {
        self.partition = partition
        self.url = url
    }

    /// The URL of a key; `nil` for a URL without an origin, or with a password, which must not be stored.
    static func text(of url: URL) -> String? {
        guard let origin = Origin(url) else { return nil }
        let text = url.absoluteString
        // The first "://" separates an origin's scheme from its host.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else { return nil }
        let rest = text[text.utf8.index(colon, offsetBy: 3)...]
        let pathStart =
            rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
        guard !rest[..<pathStart].utf8.contains(UInt8(ascii: "@")) else { return nil }
        let end = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        let path = rest[pathStart..<end]
        return origin.description + (path.utf8.first == UInt8(ascii: "/") ? "" : "/") + path
    }
}

extension CacheKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL, with secrets masked. The partition is a digest.
    public var description: String { VisibleText.of(SecretMask.text(ofURL: url)) }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The partition and the masked URL.
    public var customMirror: Mirror { Mirror(self, children: ["partition": partition, "url": description]) }
}

/// A request field that selects one of the responses of a URL (RFC 9111 §4.1).
struct SelectingField: Sendable, Hashable {
    /// The field's name.
    let name: HTTPFields.Name
    /// The value as sent, normalized; a digest for credentials; `nil` if the field was absent.
    let value: String?

    /// The value for fields that authentication or the cookie jar add. The key's partition distinguishes these.
    static let added = "\u{1}added"
}
