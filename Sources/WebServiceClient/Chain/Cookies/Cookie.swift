public import Foundation

/// A cookie of a ``CookieJar`` (RFC 6265bis §5.5).
///
/// Servers set cookies; a program makes one to put a session that it got in another way into a jar:
///
///     jar.set(try Cookie(name: "sid", value: session, domain: "api.example.com", isSecure: true))
///
/// Name and value are bytes that mean what the server wants: nothing in them is percent-decoded or unquoted. Descriptions and dumps mask
/// the value.
public struct Cookie: Sendable, Hashable {
    /// The requests from other sites that a browser sends a cookie with (RFC 6265bis §5.6.7).
    ///
    /// The attribute is kept but has no effect: a program isn't a page of a site, so all of its calls count as calls of the same site.
    public enum SameSite: String, Sendable, Hashable, CaseIterable {
        /// None.
        case strict = "Strict"
        /// Navigations with safe methods.
        case lax = "Lax"
        /// All.
        case none = "None"
    }

    let nameBytes: [UInt8]
    let valueBytes: [UInt8]
    /// The host that the cookie is for, in lower case; with ``isHostOnly`` false, its subdomains too. An IPv6 address has no brackets.
    public let domain: String
    /// Whether the cookie is for ``domain`` only and not for its subdomains.
    public let isHostOnly: Bool
    /// The beginning of the paths that the cookie is for, such as `/` or `/account`.
    public let path: String
    /// Whether the cookie is sent over https only, or to this machine.
    public let isSecure: Bool
    /// Whether a browser hides the cookie from scripts. Kept for export; it has no effect on calls.
    public let isHTTPOnly: Bool
    /// The `SameSite` attribute; `nil` without a known one.
    public let sameSite: SameSite?
    /// The end of the cookie, in whole seconds; `nil` for a session cookie.
    public let expires: Date?
    /// The date when the cookie was first set. A later value with the same name, domain and path keeps it.
    public internal(set) var created: Date

    /// The name; empty for a cookie without one. Bytes that aren't UTF-8 are read as Latin-1.
    public var name: String { Self.text(nameBytes) }
    /// The value. Bytes that aren't UTF-8 are read as Latin-1.
    public var value: String { Self.text(valueBytes) }

    /// The maximum number of bytes of name and value together (RFC 6265bis §5.6).
    static let sizeLimit = 4096

    init(
        nameBytes: [UInt8], valueBytes: [UInt8], domain: String, isHostOnly: Bool, path: String, isSecure: Bool, isHTTPOnly: Bool,
        sameSite: SameSite?, expires: Date?, created: Date
    ) {
        self.nameBytes = nameBytes
        self.valueBytes = valueBytes
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expires = expires
        self.created = created
    }

    /// Creates a cookie.
    ///
    /// - Parameters:
    ///   - name: The name; may be empty if the value isn't.
    ///   - value: The value. Encode characters that a server might not take.
    ///   - domain: The host, without port. A leading dot is dropped.
    ///   - isHostOnly: Whether subdomains are excluded.
    ///   - path: The beginning of the paths, which starts with `/`.
    ///   - isSecure: Whether the cookie is sent over https only, or to this machine.
    ///   - isHTTPOnly: Whether a browser hides the cookie from scripts.
    ///   - sameSite: The `SameSite` attribute.
    ///   - expires: The end, rounded up to whole seconds; `nil` for a session cookie. A date in the past removes the cookie from a jar.
    /// - Throws: ``InvalidCookie`` if no server could set such a cookie (RFC 6265bis §5.6, §5.7).
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite? = nil, expires: Date? = nil
    ) throws(InvalidCookie) {
        var host = domain.utf8.first == UInt8(ascii: ".") ? String(domain.dropFirst()) : domain
        host = PublicSuffixes.ascii(IPAddress.canonical(host))
        self.init(
            nameBytes: Array(name.utf8), valueBytes: Array(value.utf8), domain: host, isHostOnly: isHostOnly, path: path,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expires: try Self.wholeSecond(expires), created: Date())
        if let fault { throw InvalidCookie(message: "The cookie \(Self.shown(nameBytes)) isn't valid: \(fault).") }
    }

    private static func wholeSecond(_ date: Date?) throws(InvalidCookie) -> Date? {
        guard let date else { return nil }
        guard date.timeIntervalSince1970.isFinite else {
            throw InvalidCookie(message: "The end of a cookie isn't a date: give a finite one.")
        }
        return Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.up))
    }

    /// Why no server could set the cookie, and the fix; `nil` if one could.
    var fault: String? {
        if nameBytes.isEmpty, valueBytes.isEmpty { return "name and value are empty" }
        if nameBytes.count + valueBytes.count > Self.sizeLimit { return "name and value have more than \(Self.sizeLimit) bytes" }
        for bytes in [nameBytes, valueBytes] {
            if bytes.contains(where: { SetCookieParser.isControl($0) || $0 == UInt8(ascii: ";") }) {
                return "name or value has a semicolon or a control character: encode it"
            }
            if SetCookieParser.trimmed(bytes[...]).count < bytes.count { return "name or value begins or ends with a blank: encode it" }
        }
        if nameBytes.contains(UInt8(ascii: "=")) { return "the name has an equals sign" }
        if !Self.isHost(domain) {
            return "the domain isn't a host: write it without scheme, port and path"
        }
        if path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(where: { SetCookieParser.isControl($0) || $0 == UInt8(ascii: ";") }) {
            return "the path doesn't begin with a slash, or has a semicolon or a control character"
        }
        if let refusal = CookieRefusal.ofPrefix(self) { return refusal.rawValue }
        return nil
    }

    private static func isHost(_ domain: String) -> Bool {
        !domain.isEmpty && domain.utf8.first != UInt8(ascii: ".") && domain.utf8.last != UInt8(ascii: ".")
            && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !separators.contains($0) }
    }

    /// Characters that end a host in a URL, or a field in a cookie file.
    private static let separators = Array("/?#@;,\"\\[]".utf8)

    /// Whether the cookie has ended.
    func isExpired(at now: Date) -> Bool {
        guard let expires else { return false }
        return expires <= now
    }

    /// What identifies a cookie in a jar (RFC 6265bis §5.7).
    struct Key: Hashable, Sendable {
        let name: [UInt8]
        let domain: String
        let isHostOnly: Bool
        let path: [UInt8]
    }

    /// What identifies the cookie in a jar.
    var key: Key { Key(name: nameBytes, domain: domain, isHostOnly: isHostOnly, path: Array(path.utf8)) }

    /// Whether both have the same key.
    func replaces(_ other: Cookie) -> Bool {
        isHostOnly == other.isHostOnly && nameBytes == other.nameBytes && domain == other.domain && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Whether both have the same content, whenever they were created.
    func isSame(as other: Cookie) -> Bool {
        var copy = other
        copy.created = created
        return self == copy
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { HTTPFields.Lines.text($0) }
    }

    /// A name for messages, shortened.
    static func shown(_ name: [UInt8]) -> String {
        guard !name.isEmpty else { return "without a name" }
        return "\"\(VisibleText.of(text(Array(name.prefix(40)))))\(name.count > 40 ? "…" : "")\""
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The cookie with its attributes, in the form of a `Set-Cookie` field. The value is masked.
    public var description: String {
        var parts = [nameBytes.isEmpty ? SecretMask.mask : "\(name)=\(SecretMask.mask)"]
        parts.append(isHostOnly ? "Host=\(domain)" : "Domain=\(domain)")
        parts.append("Path=\(path)")
        if let expires { parts.append("Expires=\(HTTPDate.text(of: expires))") }
        if isSecure { parts.append("Secure") }
        if isHTTPOnly { parts.append("HttpOnly") }
        if let sameSite { parts.append("SameSite=\(sameSite.rawValue)") }
        return VisibleText.of(parts.joined(separator: "; "))
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: a dump doesn't show the value either.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}

/// The error of a cookie that no server could set.
public struct InvalidCookie: DescribedError, Sendable, Hashable {
    /// The fault and its fix. It doesn't contain the value.
    public let message: String

    init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

/// Why a server's cookie isn't stored, as the end of a sentence.
enum CookieRefusal: String, Error, Sendable, CaseIterable {
    case control = "it has a control character"
    case size = "its name and value have more than 4096 bytes"
    case empty = "its name and value are empty"
    case domain = "its domain doesn't include the host"
    case publicSuffix = "its domain is a public suffix"
    case insecure = "it is Secure, but the connection isn't"
    case overlay = "a Secure cookie of that name exists, and the connection isn't secure"
    case sameSite = "SameSite=None requires Secure"
    case securePrefix = "the prefix __Secure- requires Secure"
    case hostPrefix = "the prefix __Host- requires Secure, the path \"/\" and no domain"
    case namelessPrefix = "it has no name, and its value begins like a protected name"
    case number = "a response may set at most 50 cookies"

    private static let secure = Array("__secure-".utf8)
    private static let host = Array("__host-".utf8)

    /// The refusal of a cookie that its name's prefix forbids (RFC 6265bis §5.4, §5.7). Prefixes are compared without case.
    ///
    /// - Parameter hasRootPath: Whether the server gave the path `/`.
    static func ofPrefix(_ cookie: Cookie, hasRootPath: Bool? = nil) -> CookieRefusal? {
        if cookie.nameBytes.isEmpty {
            return begins(cookie.valueBytes, secure) || begins(cookie.valueBytes, host) ? .namelessPrefix : nil
        }
        if begins(cookie.nameBytes, secure), !cookie.isSecure { return .securePrefix }
        guard begins(cookie.nameBytes, host) else { return nil }
        return cookie.isSecure && cookie.isHostOnly && hasRootPath ?? (cookie.path == "/") ? nil : .hostPrefix
    }

    private static func begins(_ bytes: [UInt8], _ prefix: [UInt8]) -> Bool {
        bytes.count >= prefix.count && zip(bytes, prefix).allSatisfy { ($0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0) == $1 }
    }
}
