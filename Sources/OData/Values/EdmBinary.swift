public import Foundation

/// Bytes: `Edm.Binary`, written as base64url in V4 and as base64 in V2; both are read, with or without padding.
///
/// Any coder decodes and encodes it as such text. Only ``ODataDecoder`` and ``ODataEncoder`` use this form for a plain `Data`; other coders
/// apply their own strategy.
public struct EdmBinary: Sendable, Hashable {
    /// The bytes.
    public var data: Data

    /// Creates a value from bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Decodes base64url or base64, with or without padding; `nil` for other texts.
    public init?(_ text: String) {
        guard let data = Self.bytes(text) else { return nil }
        self.data = data
    }

    /// V2 services pad and break lines as in MIME, although base64 doesn't allow line breaks.
    package static func bytes(_ text: String) -> Data? {
        text.utf8.contains(0x0A) ? NumberText.base64URL(text.filter { !$0.isNewline }) : NumberText.base64URL(text)
    }
}

extension EdmBinary: CustomStringConvertible {
    /// Base64url without padding (RFC 4648, section 5).
    public var description: String { LiteralText.base64URL(data) }
}

extension EdmBinary: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(from: decoder, by: { EdmBinary($0) }, like: "base64url or base64")
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmBinary: PropertySample {
    /// Returns bytes that differ for each number.
    public static func propertySample(_ number: Int) -> EdmBinary? {
        EdmBinary(Data(String(number).utf8))
    }
}

/// A stream property, or the media of an entity: its links, media type and version (JSON Format, section 4.6.13 f.).
///
/// A property is decoded from its control information, such as `Photo@odata.mediaReadLink`, or from the `__mediaresource` of V2 and V3. It
/// is never encoded. To fetch the bytes, use `client.http.request(link: url).stream()` with the URL from ``url(of:)``.
public struct EdmStream: Sendable, Hashable {
    /// The link for reading the bytes, as the service wrote it.
    public var readLink: String?
    /// The link for writing the bytes, as the service wrote it.
    public var editLink: String?
    /// The media type, such as `image/jpeg`.
    public var contentType: String?
    /// The version of the bytes.
    public var etag: String?

    /// The base of relative links.
    var linkBase = LinkBase()

    /// Creates a stream.
    public init(readLink: String? = nil, editLink: String? = nil, contentType: String? = nil, etag: String? = nil) {
        self.readLink = readLink
        self.editLink = editLink
        self.contentType = contentType
        self.etag = etag
    }

    /// Returns the URL of ``readLink`` or ``editLink``. Relative links are resolved against the context of the stream's entity, and the
    /// context against the URL of the payload. Returns `nil` if the link is missing or not a URL, or if its base isn't known.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

    /// A Boolean value that indicates whether nothing is known: the service computes the links by convention, or the stream is missing.
    public var isEmpty: Bool {
        self == EdmStream()
    }
}

extension EdmStream: PropertySample {
    /// Returns a stream that differs for each number.
    public static func propertySample(_ number: Int) -> EdmStream? {
        EdmStream(readLink: "\(number)")
    }
}
