public import Foundation

/// A stream property, or the media of an entity: its links, media type and version (JSON Format, section 4.6.13 f.).
///
/// A property is decoded from its control information, such as `Photo@odata.mediaReadLink`, or from the `__mediaresource` of V2 and V3. It
/// is never encoded. To read and write the bytes, use a ``StreamReference``. Services of 4.01 may send the bytes as well: ``data``.
public struct EdmStream: Sendable, Hashable {
    /// The link for reading the bytes, as the service wrote it.
    public var readLink: String?
    /// The link for writing the bytes, as the service wrote it.
    public var editLink: String?
    /// The media type, such as `image/jpeg`.
    public var contentType: String?
    /// The version of the bytes.
    public var etag: String?
    /// The bytes, if the service sent them inside of the entity, as those of 4.01 do for an expanded stream (JSON Format 4.01, section 9).
    public var data: Data?

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
