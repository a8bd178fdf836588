#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension HTTPFields {
    /// The name of a header or trailer field (RFC 9110 §5.1). Comparison ignores case; the original spelling is kept.
    public struct Name: Sendable {
        /// The name as written on the wire.
        public let rawName: String

        /// The name in lower case, used for comparison.
        public let canonicalName: String

        /// Creates a name from any text. Whether it is a token is checked when the request is sent (see ``isValid``).
        public init(_ rawName: String) {
            self.rawName = rawName
            canonicalName = rawName.lowercased()
        }

        /// Whether the name is a token of RFC 9110 §5.6.2: visible ASCII letters, digits and ``!#$%&'*+-.^_`|~``, and not empty.
        public var isValid: Bool { Self.isToken(rawName) }

        /// Whether a text is a token (RFC 9110 §5.6.2).
        package static func isToken(_ text: String) -> Bool {
            !text.isEmpty && text.hasOnlyBytes { $0 < 128 && ($0 < 64 ? lowTokenBytes : highTokenBytes) >> ($0 & 63) & 1 == 1 }
        }

        /// A bit for each byte below 64 that tokens may contain: !#$%&'*+-. and the digits. Every name of a request is checked when it is
        /// sent.
        private static var lowTokenBytes: UInt64 { 0x03ff_6cfa_0000_0000 }
        /// A bit for each byte from 64 on: the letters, ^_`|~.
        private static var highTokenBytes: UInt64 { 0x57ff_ffff_c7ff_fffe }
    }
}

extension HTTPFields.Name: Hashable {
    /// Names are equal when they differ in case only.
    public static func == (left: Self, right: Self) -> Bool {
        // Most different names differ in length, which is cheap to compare.
        left.canonicalName.utf8.count == right.canonicalName.utf8.count && left.canonicalName == right.canonicalName
    }

    /// Hashes the lower-case form.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalName)
    }
}

extension HTTPFields.Name: Codable {
    /// Reads a name as text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the name in its original spelling.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawName)
    }
}

extension HTTPFields.Name: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The name in its original spelling.
    public var description: String { rawName }
}

extension HTTPFields.Name {
    /// `Accept` (RFC 9110 §12.5.1).
    public static let accept = Self("Accept")
    /// `Accept-Encoding` (RFC 9110 §12.5.3).
    public static let acceptEncoding = Self("Accept-Encoding")
    /// `Authorization` (RFC 9110 §11.6.2).
    public static let authorization = Self("Authorization")
    /// `Authentication-Info` (RFC 9110 §11.6.3).
    public static let authenticationInfo = Self("Authentication-Info")
    /// `Content-Digest` (RFC 9530 §2).
    public static let contentDigest = Self("Content-Digest")
    /// `Content-Encoding` (RFC 9110 §8.4).
    public static let contentEncoding = Self("Content-Encoding")
    /// `Content-Length` (RFC 9110 §8.6).
    public static let contentLength = Self("Content-Length")
    /// `Content-Type` (RFC 9110 §8.3).
    public static let contentType = Self("Content-Type")
    /// `Cookie` (RFC 6265 §5.4).
    public static let cookie = Self("Cookie")
    /// `Date` (RFC 9110 §6.6.1).
    public static let date = Self("Date")
    /// `Expect` (RFC 9110 §10.1.1).
    public static let expect = Self("Expect")
    /// `Host` (RFC 9110 §7.2).
    public static let host = Self("Host")
    /// `Location` (RFC 9110 §10.2.2).
    public static let location = Self("Location")
    /// `Proxy-Authenticate` (RFC 9110 §11.7.1).
    public static let proxyAuthenticate = Self("Proxy-Authenticate")
    /// `Proxy-Authentication-Info` (RFC 9110 §11.7.3).
    public static let proxyAuthenticationInfo = Self("Proxy-Authentication-Info")
    /// `Proxy-Authorization` (RFC 9110 §11.7.2).
    public static let proxyAuthorization = Self("Proxy-Authorization")
    /// `Range` (RFC 9110 §14.2).
    public static let range = Self("Range")
    /// `Repr-Digest` (RFC 9530 §3).
    public static let reprDigest = Self("Repr-Digest")
    /// `Retry-After` (RFC 9110 §10.2.3).
    public static let retryAfter = Self("Retry-After")
    /// `Set-Cookie` (RFC 6265 §4.1).
    public static let setCookie = Self("Set-Cookie")
    /// `Transfer-Encoding` (RFC 9112 §6.1).
    public static let transferEncoding = Self("Transfer-Encoding")
    /// `User-Agent` (RFC 9110 §10.1.5).
    public static let userAgent = Self("User-Agent")
    /// `WWW-Authenticate` (RFC 9110 §11.6.1).
    public static let wwwAuthenticate = Self("WWW-Authenticate")
}

// Names that most responses contain. They are looked up by their bytes, which avoids an allocation.
extension HTTPFields.Name {
    private struct Common: Sendable {
        let text: StaticString
        let name: HTTPFields.Name

        init(_ text: StaticString) {
            self.text = text
            name = HTTPFields.Name(text.description)
        }
    }

    private static let longestCommon = 32

    /// In the spellings of HTTP/1.1 servers and of HTTP/2, sorted by length.
    private static let common: [Common] = {
        let texts: [StaticString] = [
            "Age", "age", "Date", "date", "ETag", "etag", "Etag", "Link", "link", "Vary", "vary", "Allow", "allow", "Server", "server",
            "Expires", "expires", "Location", "location", "Connection", "connection", "Keep-Alive", "keep-alive", "Retry-After",
            "retry-after", "Set-Cookie", "set-cookie", "X-Request-Id", "x-request-id", "X-Request-ID", "X-Powered-By", "x-powered-by",
            "Content-Type", "content-type", "Accept-Ranges", "accept-ranges", "Cache-Control", "cache-control", "Last-Modified",
            "last-modified", "Content-Length", "content-length", "OData-Version", "odata-version", "Content-Encoding", "content-encoding",
            "Content-Language", "content-language", "WWW-Authenticate", "www-authenticate", "Transfer-Encoding", "transfer-encoding",
            "Content-Disposition", "content-disposition", "X-Content-Type-Options", "x-content-type-options",
            "Strict-Transport-Security", "strict-transport-security",
        ]
        return texts.sorted { $0.utf8CodeUnitCount < $1.utf8CodeUnitCount }.map(Common.init)
    }()

    /// The index of the first name of each length, followed by the end index.
    private static let starts: [Int] = (0...longestCommon + 1).map { length in
        common.firstIndex { $0.text.utf8CodeUnitCount >= length } ?? common.endIndex
    }

    /// Returns the common name with exactly these bytes; `nil` for others.
    package static func common(_ bytes: UnsafeRawBufferPointer) -> HTTPFields.Name? {
        guard let start = bytes.baseAddress, bytes.count <= longestCommon else { return nil }
        var index = starts[bytes.count]
        let end = starts[bytes.count + 1]
        while index < end {
            if memcmp(start, common[index].text.utf8Start, bytes.count) == 0 { return common[index].name }
            index += 1
        }
        return nil
    }
}

/// The version of this package, as sent in `User-Agent` (RFC 9110 §10.1.5).
package enum PackageVersion {
    /// The version of the next or current release, in Semantic Versioning format.
    package static let text = "0.1.0"
}
