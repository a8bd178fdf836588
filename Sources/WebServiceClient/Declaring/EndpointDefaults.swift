/// Defaults for all endpoints of a class. An endpoint's settings override them, and they override the client's configuration.
public struct EndpointDefaults: Sendable {
    /// The service root of clients that specify none.
    public var serviceRoot: String
    /// The headers of every call. They override the client's headers; the endpoint's headers override them.
    public var headers: HTTPFields
    /// The defaults of the endpoints with an HTTP method, such as `.post`. They override the class's other defaults; an endpoint's settings
    /// override them.
    ///
    ///     var defaults = EndpointDefaults(timeouts: ServiceTimeouts(firstByte: .seconds(10)))
    ///     defaults.perMethod[.get] = EndpointDefaults(retry: RetryPolicy())
    ///     defaults.perMethod[.post] = EndpointDefaults(headers: ["Prefer": "return=minimal"])
    ///
    /// They can't contain a service root or further defaults per method.
    public var perMethod: [ServiceRequest.Method: EndpointDefaults] = [:]
    var settings: EndpointSettings

    /// Creates the defaults of a class; `nil` uses the client's setting.
    ///
    /// - Parameters:
    ///   - serviceRoot: The root of clients that specify none.
    ///   - headers: The headers of every call.
    ///   - errorHandler: Decides what finished exchanges mean.
    ///   - statuses: The statuses that count as success.
    ///   - serializer: Writes bodies and reads responses.
    ///   - timeouts: The deadlines of each call.
    ///   - redirects: How redirects are handled.
    ///   - retry: Whether and how calls are retried.
    ///   - arrays: How arrays in queries, forms and headers are written.
    ///   - urlBuilder: Builds the URLs.
    ///   - bodyLimit: The maximum number of body bytes that are read into memory.
    ///   - trust: The servers that calls trust, and the client's identity.
    ///   - requiring: The required capabilities of the transport.
    public init(
        serviceRoot: String = "", headers: HTTPFields = [:], errorHandler: (any ErrorHandler)? = nil, statuses: StatusSet? = nil,
        serializer: (any SerializationDelegate)? = nil, timeouts: ServiceTimeouts? = nil, redirects: RedirectPolicy? = nil,
        retry: RetryPolicy? = nil, arrays: FieldReflection.ArrayStrategy? = nil, urlBuilder: (any URLBuilder)? = nil, bodyLimit: Int? = nil,
        trust: TrustPolicy? = nil, requiring: TransportCapabilities = []
    ) {
        self.serviceRoot = serviceRoot
        self.headers = headers
        settings = EndpointSettings()
        settings.errorHandler = errorHandler
        settings.statuses = statuses
        settings.serializer = serializer
        settings.timeouts = timeouts
        settings.arrays = arrays
        settings.urlBuilder = urlBuilder
        settings.bodyLimit = bodyLimit
        settings.trust = trust
        settings.capabilities = requiring
        if let redirects { settings.attributes.set(redirects) }
        if let retry { settings.attributes.set(retry) }
    }

    /// Reads all responses with this parser, regardless of their `Content-Type`.
    package func decoding(with parser: any SerializationDelegate) -> EndpointDefaults {
        var copy = self
        copy.settings.parsing = .forced(parser)
        return copy
    }

    /// Limits how often all calls of a client start together. Each client of the class counts for itself. In the defaults of a method, it
    /// limits the calls with that method together, instead of the class's and the client's limit.
    public func rateLimited(_ limit: RateLimit) -> EndpointDefaults {
        attribute(ClientRateLimit(limit: limit))
    }

    /// Sets an attribute of every endpoint that doesn't set it itself.
    public func attribute(_ attribute: some EndpointAttribute) -> EndpointDefaults {
        var copy = self
        copy.settings.attributes.set(attribute)
        return copy
    }
}

extension EndpointDefaults: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The service root, the headers with secrets masked, and the defaults per method.
    public var description: String { MaskedMirror.text(of: customMirror, type: "EndpointDefaults") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: a dump doesn't show secrets either.
    public var customMirror: Mirror {
        var children: [(label: String?, value: Any)] = [
            ("serviceRoot", SecretMask.text(ofURL: serviceRoot)), ("headers", headers),
        ]
        for (method, defaults) in perMethod.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            children.append((method.rawValue, defaults))
        }
        return Mirror(self, children: children)
    }
}
