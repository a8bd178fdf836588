public import Foundation

/// Bytes: `Edm.Binary`, as base64url in V4 and as base64 in V2; both are read, with or without padding.
///
/// It is decoded from and encoded as such a text with any coder. A plain `Data` is read and written so by ``ODataDecoder`` and
/// ``ODataEncoder`` only: for other coders their own strategy decides.
public struct EdmBinary: Sendable, Hashable {
    /// The bytes.
    public var data: Data

    /// Bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Reads base64url or base64, with or without padding; `nil` for other texts.
    public init?(_ text: String) {
        guard let data = Self.bytes(text) else { return nil }
        self.data = data
    }

    /// V2 services pad and break lines as MIME does, which base64 allows nowhere else.
    static func bytes(_ text: String) -> Data? {
        text.utf8.contains(0x0A) ? NumberText.base64URL(text.filter { !$0.isNewline }) : NumberText.base64URL(text)
    }
}

extension EdmBinary: CustomStringConvertible {
    /// Base64url without padding (RFC 4648, section 5).
    public var description: String { LiteralWriter.base64URL(data) }
}

extension EdmBinary: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .binary(data) }
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
    /// Bytes that differ for each number.
    public static func propertySample(_ number: Int) -> EdmBinary? {
        EdmBinary(Data(String(number).utf8))
    }
}

/// A stream property, or an entity's own media: where its bytes are and what they are (JSON Format, section 4.6.13 f.).
///
/// As a property it is filled from what stands beside it, `Photo@odata.mediaReadLink` and its like, or from V2's and V3's `__mediaresource`.
/// The bytes themselves are fetched by the link: `client.http.request(link: url).stream()` with the URL that ``url(of:)`` gives. Nothing of it is written into an entity.
public struct EdmStream: Sendable, Hashable {
    /// Where the bytes are read, as the service wrote it.
    public var readLink: String?
    /// Where the bytes are written, as the service wrote it.
    public var editLink: String?
    /// What the bytes are, such as `image/jpeg`.
    public var contentType: String?
    /// The version of the bytes.
    public var etag: String?

    /// What relative links begin at.
    var linkBase = LinkBase()

    /// A stream.
    public init(readLink: String? = nil, editLink: String? = nil, contentType: String? = nil, etag: String? = nil) {
        self.readLink = readLink
        self.editLink = editLink
        self.contentType = contentType
        self.etag = etag
    }

    /// The URL behind one of the links, ``readLink`` or ``editLink``: relative ones begin at the context of the entity that the stream belongs to,
    /// and that at the URL of the payload. `nil` where the link is none or no URL, or where it begins isn't known.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

    /// Whether nothing is known of it: the service computes the links by its own convention, or there is no stream.
    public var isEmpty: Bool {
        self == EdmStream()
    }
}

extension EdmStream: PropertySample {
    /// A stream that differs for each number.
    public static func propertySample(_ number: Int) -> EdmStream? {
        EdmStream(readLink: "\(number)")
    }
}
