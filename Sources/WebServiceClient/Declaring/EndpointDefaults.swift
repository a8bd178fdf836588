/// What a class says of all its endpoints. An endpoint's own word wins over it, and it wins over the client's configuration.
public struct EndpointDefaults: Sendable {
    /// The service root of clients that are given none.
    public var serviceRoot: String
    /// Headers of every call. They win over the client's and lose against the endpoint's.
    public var headers: HTTPFields
    var settings: EndpointSettings

    /// The defaults of a class; `nil` leaves a setting to the client.
    ///
    /// - Parameters:
    ///   - serviceRoot: the root of clients that are given none.
    ///   - headers: headers of every call.
    ///   - errorHandler: decides what finished exchanges mean.
    ///   - statuses: what counts as success.
    ///   - serializer: writes bodies and reads answers.
    ///   - timeouts: the deadlines of each call.
    ///   - redirects: what happens to redirects.
    ///   - retry: whether and how calls are repeated.
    ///   - arrays: how arrays in queries, forms and headers are written.
    ///   - urlBuilder: makes the URLs.
    ///   - bodyLimit: the most bytes of a body that are read into memory.
    ///   - trust: whom calls trust and who they are.
    ///   - requiring: what the transport must be able to do.
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

    /// Reads all responses with this parser, whatever their `Content-Type`.
    package func decoding(with parser: any SerializationDelegate) -> EndpointDefaults {
        var copy = self
        copy.settings.parsing = .forced(parser)
        return copy
    }

    /// Sets an attribute that every endpoint has unless it says otherwise.
    public func attribute(_ attribute: some EndpointAttribute) -> EndpointDefaults {
        var copy = self
        copy.settings.attributes.set(attribute)
        return copy
    }
}

extension EndpointDefaults: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Service root and headers, secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "EndpointDefaults") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: not even a dump shows secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["serviceRoot": SecretMask.text(ofURL: serviceRoot), "headers": headers])
    }
}
