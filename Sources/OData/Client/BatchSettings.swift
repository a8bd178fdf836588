import WebServiceClient

/// The form of a service's batches: ``ODataClient/batching``.
///
/// Services accept one of two formats, and have limits that metadata rarely states. The presets are for services whose documentation
/// states them.
public struct BatchSettings: Sendable, Hashable {
    /// The format of a batch.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// JSON if the printer's version is 4.01, otherwise multipart.
        case automatic
        /// `multipart/mixed`, of every version (Protocol 4.01, section 11.7.7; OData 2.0, Batch Processing).
        case multipart
        /// JSON (JSON Format 4.01, section 19). Services of version 2 have none; some services of 4.0 accept it.
        case json
    }

    /// The form of the URLs inside a batch (Protocol 4.01, section 11.7.2).
    public enum URLForm: String, Sendable, Hashable, CaseIterable {
        /// Relative to the service root, without a slash at the beginning.
        case relative
        /// The path from the host's root; multipart parts have a `Host` field. JSON has no other difference.
        case hostRelative
        /// The whole URL.
        case absolute
    }

    /// The format. Default: `.automatic`.
    public var format: Format
    /// The form of the URLs. Default: `.relative`. References to earlier parts, such as `$1/Items`, are always relative.
    public var urls: URLForm
    /// The maximum number of requests in one batch; `nil`, the default, for no limit. Values below 1 count as 1.
    ///
    /// A batch with more requests is sent as several, one after the other. A group, and a request that refers to an earlier one, aren't
    /// separated.
    public var limit: Int?
    /// Whether multipart parts with a body have a `Content-Length` field, in bytes. Default: `false`, because few services need it.
    public var statesLengths: Bool
    /// Whether the service performs the requests of a group as a whole or not at all (Protocol 4.01, section 11.7). Default: `true`.
    ///
    /// Without it, a batch that has a group of several requests is refused before anything is sent.
    public var groupsAreAtomic: Bool

    /// Creates settings.
    public init(
        format: Format = .automatic, urls: URLForm = .relative, limit: Int? = nil, statesLengths: Bool = false, groupsAreAtomic: Bool = true
    ) {
        self.format = format
        self.urls = urls
        self.limit = limit
        self.statesLengths = statesLengths
        self.groupsAreAtomic = groupsAreAtomic
    }

    /// The settings for Microsoft Graph: JSON, up to 20 requests, and no groups, because its documentation doesn't have them.
    public static let graph = BatchSettings(format: .json, limit: 20, groupsAreAtomic: false)
    /// The settings for Microsoft Dataverse: multipart, up to 1,000 requests.
    public static let dataverse = BatchSettings(format: .multipart, limit: 1_000)
    /// The settings for Dynamics 365 Business Central: JSON, up to 100 requests, and no groups. The service performs a whole batch
    /// atomically if the batch's headers have `Isolation: snapshot`; if a request fails then, none has an effect, although others may have
    /// successful answers.
    public static let businessCentral = BatchSettings(format: .json, limit: 100, groupsAreAtomic: false)
    /// The settings for SharePoint: multipart, absolute URLs, up to 100 requests, and no groups, because its change sets aren't atomic.
    public static let sharePoint = BatchSettings(format: .multipart, urls: .absolute, limit: 100, groupsAreAtomic: false)

    /// The format for a version.
    func format(for version: ODataVersion) -> Format {
        format == .automatic ? (version >= .v401 ? .json : .multipart) : format
    }
}

/// Sends reads of concurrent tasks together.
protocol ReadDeferral: Sendable {
    /// Returns the response to a read; `nil` if the call must be sent separately.
    func answer(to call: EnclosedCall, of client: ODataClient) async throws -> TransportResponse?
}

/// The response to a batch, whose body is read while it arrives.
struct BatchSource: Sendable {
    let response: ServiceResponse<ResponseBody>
    let errors: StreamErrors
    /// Throws the error that the service reports after the body.
    let checkEnd: @Sendable () throws -> Void

    /// The media type of the body.
    var mediaType: MediaType? { response.headers[.contentType].flatMap { MediaType($0) } }

    static func isMultipart(_ headers: HTTPFields) -> Bool {
        headers[.contentType].flatMap { MediaType($0) }?.type == "multipart"
    }
}
