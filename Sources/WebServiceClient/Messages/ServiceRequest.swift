public import Foundation

/// A request as it goes through the chain and onto the wire: a value that interceptors change and pass on.
public struct ServiceRequest: Sendable {
    /// The method.
    public var method: Method
    /// The absolute URL, percent-encoded as it will be sent.
    public var url: URL
    /// The header fields. A control character other than a tab in a value, or a name that is no token, is an error when the request is sent.
    public var headers: HTTPFields
    /// The body, if there is one.
    public var body: RequestBody?
    /// The deadlines of this request.
    public var timeouts: ServiceTimeouts {
        get { shared.details.timeouts }
        set { details.timeouts = newValue }
    }
    /// The instant at which the whole call ends, attempts and redirects included; made from ``ServiceTimeouts/total`` when the call starts.
    public var deadline: ContinuousClock.Instant? {
        get { end?.continuous }
        set { end = newValue.map(MonotonicInstant.init) }
    }
    /// The same as a plain number: with an instant of the standard library's inside, whose layout is its secret, each copy of a request, and
    /// of all that holds one, would ask the runtime.
    var end: MonotonicInstant?
    /// Whom to trust, and who to be; `nil` leaves it to the transport.
    public var trust: TrustPolicy? {
        get { shared.details.trust }
        set { details.trust = newValue }
    }
    /// Told of the body's way to the server, in order, on an executor of the transport's choice.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { shared.details.uploadProgress }
        set { details.uploadProgress = newValue }
    }
    /// Told of the response body's arrival, in order, while it is read.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { shared.details.downloadProgress }
        set { details.downloadProgress = newValue }
    }
    /// Which call this request belongs to; `nil` for one made by hand.
    public var identity: CallIdentity? {
        get { shared.details.identity }
        set { details.identity = newValue }
    }

    /// What is secret in it beside what the standard rules find; `nil` for nothing.
    package internal(set) var secrets: RequestSecrets? {
        get { shared.details.secrets }
        set { details.secrets = newValue }
    }

    private var shared: RequestDetails.Shared
    private var details: RequestDetails {
        get { shared.details }
        set { shared = RequestDetails.Shared(newValue, commonFields: shared.commonFields) }
    }

    /// A request.
    public init(
        method: Method = .get, url: URL, headers: HTTPFields = [:], body: RequestBody? = nil, timeouts: ServiceTimeouts = ServiceTimeouts()
    ) {
        let isStandard = timeouts == RequestDetails.Shared.standard.details.timeouts
        self.init(
            method: method, url: url, headers: headers, body: body,
            sharing: isStandard ? .standard : RequestDetails.Shared(RequestDetails(timeouts: timeouts)))
    }

    /// A request that shares its details with others.
    init(method: Method, url: URL, headers: HTTPFields, body: RequestBody? = nil, sharing details: RequestDetails.Shared) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        shared = details
    }

    /// The request's fields as others have them, too; `nil` where it has some of its own.
    var commonFields: CommonFields? {
        guard let common = shared.commonFields, common.fields.isSame(as: headers) else { return nil }
        return common
    }

    /// The origin of the URL; `nil` when it has none.
    public var origin: Origin? { Origin(url) }

    /// What stands in the request line: the percent-encoded path and query (RFC 9112 §3.2.1).
    public var target: String {
        let path = url.path(percentEncoded: true)
        let start = path.isEmpty ? "/" : path
        guard let query = url.query(percentEncoded: true) else { return start }
        return start + "?" + query
    }
}

extension ServiceRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method, URL and fields, secrets masked.
    public var description: String {
        let head = "\(method) \(SecretMask.text(of: self))"
        return headers.isEmpty ? head : head + "\n" + RequestSecrets.masked(headers, secrets).unmaskedDescription
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Method, URL, fields and body, secrets masked: not even a dump shows them.
    public var customMirror: Mirror {
        let body = body.map(\.description) ?? "nil"
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["method": method, "url": SecretMask.text(of: self), "headers": headers, "body": body])
    }
}
