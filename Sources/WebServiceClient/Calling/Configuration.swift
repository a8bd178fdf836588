public import Foundation

extension WebServiceClient {
    /// The settings of a client, a value type. `client.configure { … }` changes all settings at once for later calls.
    public struct Configuration: Sendable {
        /// The base of relative routes: an absolute http or https URL; `ws` and `wss` mean the same. Takes precedence over the class's
        /// root.
        public var serviceRoot: String = ""
        /// Further origins of the service, such as `"https://eu.api.example.com"`: scheme, host and port. If a profile, a redirect, a link
        /// or an interceptor leads there, the client's headers and credentials are sent too. Default none.
        public var allowedOrigins: [String] = []
        /// The header fields without secrets, in addition to those that the library knows. All other fields are masked in texts and sent
        /// only to the service's origin.
        public var headerRules = HeaderRules()
        /// The headers of every call to the service. Those of class and endpoint take precedence.
        public var headers: HTTPFields = [:]
        /// Makes credentials and answers challenges. Credentials are sent only to the origin of the service root.
        public var authenticationProvider: (any AuthenticationProvider)?
        /// The credentials for the ``SecurityRequirements`` of endpoints, by the names of their schemes. Endpoints without requirements,
        /// and requirements without credentials here, use the ``authenticationProvider``.
        public var credentials: [String: SecurityCredential] = [:]
        /// Answers a proxy's challenges. The transport must deliver them: ``TransportCapabilities/proxyAuthentication``.
        public var proxyAuthenticationProvider: (any AuthenticationProvider)?
        /// Keeps the service's cookies and sends them. With `nil`, the default, cookies are neither kept nor sent. Clients may share a jar.
        ///
        /// Only calls to the service use it, unless a ``CookiePolicy`` specifies otherwise.
        public var cookies: CookieJar?
        /// The interceptors of every call, outermost first. They run once per call, outside redirects, retries and authentication.
        public var interceptors: [any Interceptor] = []
        /// Sends the requests.
        public var transport: any Transport = DefaultTransport.shared
        /// The trusted authorities, pins and client identity of calls. With `nil` the transport decides. If the transport can't honor the
        /// policy, the client makes no calls.
        ///
        /// The identity is presented only to the origin of the service root: calls and redirects to other origins omit it. Authorities and
        /// pins apply to every call.
        public var trust: TrustPolicy?
        /// The default serializer: encodes bodies and decodes responses if neither class nor endpoint has one.
        public var serializer: any SerializationDelegate = JSONSerializer()
        /// Parsers by media type. They take precedence over the serializers of endpoint, class and client, each of which reads its own
        /// format, and those over the parsers of ``SerializationRegistry/standard``.
        public var parsers = SerializationRegistry()
        /// The statuses that count as success. Default 200 to 299.
        public var statuses: StatusSet = .success
        /// Judges finished exchanges.
        public var errorHandler: (any ErrorHandler)?
        /// The deadlines of each call.
        public var timeouts = ServiceTimeouts()
        /// How redirects are handled. Default: up to 10 are followed.
        public var redirects: RedirectPolicy = .follow
        /// Whether and how calls are retried. Default: never.
        public var retry: RetryPolicy = .never
        /// Limits the repeats of all calls together; `nil` removes the limit.
        public var retryBudget: RetryBudget? = RetryBudget()
        /// Which requests carry the trace and the baggage of their task. Default `nil`: none.
        public var tracing: TracingPolicy?
        /// When calls to an origin that keeps failing are refused without being sent. Default `nil`: never.
        public var circuitBreaker: CircuitBreakerPolicy?
        /// The limits of the client's queue. Default: none. See ``WebServiceClient/WebServiceClient/queue``.
        public var queue = QueueLimits.none
        /// The rate limit of all calls of the client together; the class's takes precedence. Default: none.
        public var rateLimit: RateLimit? {
            get { attributes[ClientRateLimit.self]?.limit }
            set { attributes[ClientRateLimit.self] = newValue.map { ClientRateLimit(limit: $0) } }
        }
        /// Observes the network for ``WaitingForNetwork``, and learns from calls which origins answer: ``Reachability/contact(with:)``.
        /// With `nil`, the default, calls that wait use ``Reachability/system``, and nothing is learnt.
        public var reachability: Reachability?
        /// Keeps the app running in the background while calls run. Default `nil`: the system suspends it when it likes.
        public var backgroundTime: BackgroundTime?
        /// Switches the fault plans of endpoints on, in tests. Default `nil`: ``EndpointDescriptor/faults(_:)`` has no effect.
        public var faults: FaultInjection?
        /// The cache of responses (RFC 9111); `nil`, the default, for none. Several clients may share one.
        public var cache: ResponseCache?
        /// Attributes of every endpoint; those of class, endpoint and call take precedence.
        ///
        ///     $0.attributes[Audited.self] = Audited(by: "billing")
        public var attributes = EndpointAttributes()
        /// How arrays in queries, forms and headers are written. Default: the key is repeated. Headers support the comma only; with any
        /// other strategy each value is a separate field. A ``FormSerializer`` with its own rules keeps them.
        public var arrays: FieldReflection.ArrayStrategy = .repeatedKey
        /// Makes the URLs of services that need nonstandard ones.
        public var urlBuilder: (any URLBuilder)?
        /// The maximum number of bytes of a response body read into memory. Default 64 MiB.
        public var bodyLimit = 64 * 1024 * 1024
        /// Receives the library's diagnostics.
        public var diagnostics = Diagnostics()

        /// Creates the default settings.
        public init() {}

        /// Decides per call whether a failure leads to a repeat: the ``RetryDecider`` among the ``attributes``.
        public var retryDecider: RetryDecider? {
            get { attributes[RetryDecider.self] }
            set { attributes[RetryDecider.self] = newValue }
        }

        /// The client's settings, which class and method override.
        var settings: EndpointSettings {
            var settings = EndpointSettings()
            settings.statuses = statuses
            settings.errorHandler = errorHandler
            settings.serializer = serializer
            settings.timeouts = timeouts
            settings.arrays = arrays
            settings.urlBuilder = urlBuilder
            settings.bodyLimit = bodyLimit
            settings.trust = trust
            settings.attributes = attributes
            return settings
        }
    }
}

extension WebServiceClient.Configuration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings with their values; secrets in the service root and the headers are masked. Values of user-defined types, such as an
    /// authentication provider, are shown by their type's name, because they may contain secrets.
    public var description: String { MaskedMirror.text(of: customMirror, type: "Configuration") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, one by one. A dump shows no secrets.
    public var customMirror: Mirror {
        // In two parts: the compiler needs too long for one expression.
        Mirror(self, children: (Array(serviceParts) + Array(callParts)).map { (label: Optional($0.key), value: $0.value) })
    }

    private var serviceParts: KeyValuePairs<String, Any> {
        [
            "serviceRoot": SecretMask.text(ofURL: serviceRoot),
            "headers": RequestSecrets.masked(headers, RequestSecrets(rules: headerRules, texts: [])).unmaskedDescription,
            "headerRules": headerRules,
            "allowedOrigins": allowedOrigins.map(SecretMask.text(ofURL:)),
            "authenticationProvider": MaskedMirror.typeName(of: authenticationProvider),
            "credentials": credentials.keys.sorted(),
            "proxyAuthenticationProvider": MaskedMirror.typeName(of: proxyAuthenticationProvider),
            "cookies": cookies.map(\.description) ?? "nil",
            "interceptors": interceptors.map { MaskedMirror.typeName(of: $0) },
            "transport": MaskedMirror.typeName(of: transport),
            "trust": trust.map(\.description) ?? "nil",
            "serializer": MaskedMirror.typeName(of: serializer),
            "parsers": MaskedMirror.typeName(of: parsers),
        ]
    }

    private var callParts: KeyValuePairs<String, Any> {
        [
            "statuses": statuses,
            "errorHandler": MaskedMirror.typeName(of: errorHandler),
            "timeouts": timeouts,
            "redirects": redirects,
            "retry": retry,
            "retryBudget": retryBudget.map(\.description) ?? "nil",
            "tracing": tracing.map { ValueText.text(of: $0) } ?? "nil",
            "circuitBreaker": circuitBreaker.map(\.description) ?? "nil",
            "queue": queue,
            "reachability": reachability.map { "\($0.status)" } ?? "nil",
            "backgroundTime": MaskedMirror.typeName(of: backgroundTime),
            "faults": faults.map(\.description) ?? "nil",
            "cache": cache.map(\.description) ?? "nil",
            "attributes": attributes.all.map { ValueText.text(of: $0) },
            "arrays": arrays,
            "urlBuilder": MaskedMirror.typeName(of: urlBuilder),
            "bodyLimit": bodyLimit,
        ]
    }
}

/// The options of one call, in addition to its arguments.
struct CallOptions: Sendable {
    /// Changes the request, after the client's preparers and before redirects.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?
    /// The deadline of the whole call.
    var timeout: Duration?

    static let none = CallOptions()
}

extension ServiceProfile {
    /// Reads the profile of a client class, by convention the file `ClassName.plist` or `ClassName.json` in a folder.
    ///
    /// - Throws: ``ServiceProfileError``, including if neither file exists.
    public init(for client: WebServiceClient.Type, in folder: URL) throws {
        let name = String(describing: client)
        for ending in ["plist", "json"] {
            let file = folder.appending(path: "\(name).\(ending)")
            if FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
                self = try ServiceProfile(contentsOf: file)
                return
            }
        }
        throw ServiceProfileError(faults: ["there is neither \(name).plist nor \(name).json in \(folder.lastPathComponent)"])
    }
}
