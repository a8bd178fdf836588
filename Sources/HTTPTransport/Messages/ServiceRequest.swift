public import Foundation

/// A request on its way through the interceptor chain and onto the wire: a value that interceptors change and pass on.
public struct ServiceRequest: Sendable {
    /// The method.
    public var method: Method
    /// The absolute URL, percent-encoded in its final form.
    public var url: URL
    /// The header fields. Sending throws an error if a name isn't a token, or if a value contains a control character other than a tab.
    public var headers: HTTPFields
    /// The body, if any.
    public var body: RequestBody?
    /// The time limits of this request.
    public var timeouts: ServiceTimeouts {
        get { shared.details.timeouts }
        set { details.timeouts = newValue }
    }
    /// The instant at which the whole call ends, including attempts and redirects. It is computed from ``ServiceTimeouts/total`` when the
    /// call starts.
    public var deadline: ContinuousClock.Instant? {
        get { end?.continuous }
        set { end = newValue.map(MonotonicInstant.init) }
    }
    /// The deadline as a plain number. Storing an instant of the standard library would make every copy of a request slower, because its
    /// layout is opaque.
    package var end: MonotonicInstant?
    /// The trust settings and client identity; `nil` leaves them to the transport.
    public var trust: TrustPolicy? {
        get { shared.details.trust }
        set { details.trust = newValue }
    }
    /// Receives the progress of the body's upload, in order, on an executor of the transport's choice.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { shared.details.uploadProgress }
        set { details.uploadProgress = newValue }
    }
    /// Receives the progress of the response body's download, in order, while it is read.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { shared.details.downloadProgress }
        set { details.downloadProgress = newValue }
    }
    /// The call that this request belongs to; `nil` for a request made by hand.
    public var identity: CallIdentity? {
        get { shared.details.identity }
        set { details.identity = newValue }
    }

    /// The secrets in the request that the standard rules don't find; `nil` for none.
    package var secrets: RequestSecrets? {
        get { shared.details.secrets }
        set { details.secrets = newValue }
    }
    /// The WebSocket that the request opens; `nil` for all other requests.
    package var webSocket: WebSocketOpening? {
        get { shared.details.webSocket }
        set { details.webSocket = newValue }
    }

    private var shared: RequestDetails.Shared
    private var details: RequestDetails {
        get { shared.details }
        set { shared = RequestDetails.Shared(newValue, commonFields: shared.commonFields) }
    }

    /// Creates a request.
    public init(
        method: Method = .get, url: URL, headers: HTTPFields = [:], body: RequestBody? = nil, timeouts: ServiceTimeouts = ServiceTimeouts()
    ) {
        let isStandard = timeouts == RequestDetails.Shared.standard.details.timeouts
        self.init(
            method: method, url: url, headers: headers, body: body,
            sharing: isStandard ? .standard : RequestDetails.Shared(RequestDetails(timeouts: timeouts)))
    }

    /// Creates a request that shares its details with others.
    package init(method: Method, url: URL, headers: HTTPFields, body: RequestBody? = nil, sharing details: RequestDetails.Shared) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        shared = details
    }

    /// The shared header fields, or `nil` if this request's fields differ from them.
    package var commonFields: CommonFields? {
        guard let common = shared.commonFields, common.fields.isSame(as: headers) else { return nil }
        return common
    }

    /// The origin of the URL; `nil` if it has none.
    public var origin: Origin? { Origin(url) }

    /// The request target: the percent-encoded path and query (RFC 9112 §3.2.1).
    public var target: String {
        let path = url.path(percentEncoded: true)
        let start = path.isEmpty ? "/" : path
        guard let query = url.query(percentEncoded: true) else { return start }
        return start + "?" + query
    }
}

extension ServiceRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, URL and fields, with secrets masked.
    public var description: String {
        let head = "\(method) \(SecretMask.text(of: self))"
        return headers.isEmpty ? head : head + "\n" + RequestSecrets.masked(headers, secrets).unmaskedDescription
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The method, URL, fields and body, masked so that a dump shows no secrets.
    public var customMirror: Mirror {
        let body = body.map(\.description) ?? "nil"
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["method": method, "url": SecretMask.text(of: self), "headers": headers, "body": body])
    }
}

extension ServiceRequest {
    /// The method of a request (RFC 9110 §9). Any token is a method.
    public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as written on the wire. Methods are case-sensitive.
        public let rawValue: String

        /// Creates a method with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A method from a literal.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// The method's name.
        public var description: String { rawValue }

        /// `GET` (RFC 9110 §9.3.1).
        public static let get: Self = "GET"
        /// `HEAD` (RFC 9110 §9.3.2).
        public static let head: Self = "HEAD"
        /// `POST` (RFC 9110 §9.3.3).
        public static let post: Self = "POST"
        /// `PUT` (RFC 9110 §9.3.4).
        public static let put: Self = "PUT"
        /// `PATCH` (RFC 5789).
        public static let patch: Self = "PATCH"
        /// `DELETE` (RFC 9110 §9.3.5).
        public static let delete: Self = "DELETE"
        /// `OPTIONS` (RFC 9110 §9.3.7).
        public static let options: Self = "OPTIONS"

        /// Whether the method only reads (RFC 9110 §9.2.1).
        public var isSafe: Bool {
            self == .get || self == .head || self == .options || self == "TRACE"
        }

        /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
        public var isIdempotent: Bool {
            isSafe || self == .put || self == .delete
        }

        /// Whether requests with this method usually have a body: POST, PUT and PATCH.
        public var usuallyHasBody: Bool {
            self == .post || self == .put || self == .patch
        }

        /// The method of RFC 9110 or RFC 5789 that equals this name ignoring case; `nil` for other methods, whose case is significant.
        package var knownSpelling: Self? {
            let known: [Self] = [.get, .head, .post, .put, .patch, .delete, .options, "TRACE", "CONNECT"]
            let name = rawValue.uppercased()
            return known.first { $0.rawValue == name }
        }

        /// Whether the name is a token (RFC 9110 §9.1).
        public var isValid: Bool {
            HTTPFields.Name.isToken(rawValue)
        }
    }
}

/// The rarely changed part of a request, shared by most requests of an endpoint. Requests hold it by reference, because every stage of the
/// chain copies the request.
package struct RequestDetails: Sendable {
    package var timeouts = ServiceTimeouts()
    package var trust: TrustPolicy?
    package var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    package var downloadProgress: (@Sendable (TransferProgress) -> Void)?
    package var identity: CallIdentity?
    package var secrets: RequestSecrets?
    package var webSocket: WebSocketOpening?

    package init(
        timeouts: ServiceTimeouts = ServiceTimeouts(), trust: TrustPolicy? = nil, identity: CallIdentity? = nil,
        secrets: RequestSecrets? = nil
    ) {
        self.timeouts = timeouts
        self.trust = trust
        self.identity = identity
        self.secrets = secrets
    }

    /// Immutable details that requests share.
    package final class Shared: Sendable {
        package static let standard = Shared(RequestDetails())

        package let details: RequestDetails
        /// The fields that requests with these details usually have; `nil` if unknown.
        package let commonFields: CommonFields?

        package init(_ details: RequestDetails, commonFields: CommonFields? = nil) {
            self.details = details
            self.commonFields = commonFields
        }
    }
}

/// The call that a request belongs to. It travels with the request, so that interceptors, metrics and log lines can name the endpoint.
public struct CallIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The type of the client, such as `GitHub`.
    public let client: String
    /// The endpoint's key, such as `repository(owner:name:)`, or the method and path of a call without an entry.
    public let key: String
    /// The declared route with its placeholders. It has few distinct values, so it can label metrics.
    public let route: String

    /// Creates the identity of a call.
    public init(client: String, key: String, route: String) {
        self.client = client
        self.key = key
        self.route = route
    }

    /// `GitHub.repository(owner:name:)`.
    public var description: String { "\(client).\(key)" }
}

/// The time limits of a call, which transports measure with a monotonic clock. `nil` means no limit.
public struct ServiceTimeouts: Sendable, Hashable {
    /// The time from the start of an attempt to the head of its response, including connecting and waiting. While the request's body is
    /// sent, each byte sent restarts the time, so a large body isn't limited, but a stalled one is. Default 60 seconds.
    public var firstByte: Duration?

    /// The time from the start of an attempt to the connection, including name lookup and TLS. Default none: ``firstByte`` bounds it as
    /// well. If the transport doesn't support ``TransportCapabilities/connectDeadlines``, the call fails before a request is sent. Like
    /// ``firstByte``, it includes the time that the exchange is queued within the transport.
    public var connect: Duration?

    /// The longest pause while a body is received. Sending bytes of the request's body also ends a pause. Default 60 seconds.
    public var idle: Duration?

    /// The duration of the whole call: all attempts, redirects and waits, up to the last byte of the body. Default none.
    public var total: Duration?

    /// Creates time limits.
    public init(
        firstByte: Duration? = .seconds(60), idle: Duration? = .seconds(60), total: Duration? = nil, connect: Duration? = nil
    ) {
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
        self.connect = connect
    }
}
