public import Foundation

extension WebServiceClient {
    /// The settings of a client. A value: `client.configure { … }` changes it as a whole for later calls.
    public struct Configuration: Sendable {
        /// What relative routes are joined to: an absolute http or https URL. It wins over the class's.
        public var serviceRoot: String = ""
        /// Origins that belong to the service beside the service root's, such as `"https://eu.api.example.com"`: scheme, host and port. The
        /// client's headers and credentials go there as well, when a profile, a redirect, a link or an interceptor leads there. Default none.
        public var allowedOrigins: [String] = []
        /// Which header fields hold no secret, beside those that the library knows. All others are masked in texts, and stay with the
        /// service's origin.
        public var headerRules = HeaderRules()
        /// Headers of every call to the service. The class's and the endpoint's win over them.
        public var headers: HTTPFields = [:]
        /// Makes and answers for the credentials. They belong to the origin of the service root and go nowhere else.
        public var authenticationProvider: (any AuthenticationProvider)?
        /// The same for a proxy's challenges, with a transport that delivers them: ``TransportCapabilities/proxyAuthentication``.
        public var proxyAuthenticationProvider: (any AuthenticationProvider)?
        /// What happens to every call, the first listed outermost. They run once per call, outside redirects, retries and authentication.
        public var interceptors: [any Interceptor] = []
        /// What puts requests on the wire.
        public var transport: any Transport = DefaultTransport.shared
        /// Whom calls trust and who they are; `nil` leaves it to the transport. A client whose transport can't honour it makes no call.
        ///
        /// The identity is shown to the origin of the service root and to no other: calls elsewhere, and redirects to elsewhere, go without
        /// it. Authorities and pins go with every call.
        public var trust: TrustPolicy?
        /// Writes bodies and reads answers where nothing else is said.
        public var serializer: any SerializationDelegate = JSONSerializer()
        /// Parsers by media type. They win over the client's serializer, which reads its own format, and that over those of
        /// ``SerializationRegistry/standard``.
        public var parsers = SerializationRegistry()
        /// What counts as success. Default 200 to 299.
        public var statuses: StatusSet = .success
        /// Decides what finished exchanges mean.
        public var errorHandler: (any ErrorHandler)?
        /// The deadlines of each call.
        public var timeouts = ServiceTimeouts()
        /// What happens to redirects. Default: up to 10 are followed.
        public var redirects: RedirectPolicy = .follow
        /// Whether and how calls are repeated. Default: never.
        public var retry: RetryPolicy = .never
        /// How arrays in queries, forms and headers are written. Default: the key is repeated. Headers know the comma only, else each value is
        /// a field of its own. A ``FormSerializer`` that was given rules keeps them.
        public var arrays: FieldReflection.ArrayStrategy = .repeatedKey
        /// Makes the URLs, where a service needs them otherwise than by the book.
        public var urlBuilder: (any URLBuilder)?
        /// The most bytes of a response body that are read into memory. Default 64 MiB.
        public var bodyLimit = 64 * 1024 * 1024
        /// Where the library says what it has to say.
        public var diagnostics = Diagnostics()

        /// The defaults.
        public init() {}

        /// The client's part of the settings, below class and method.
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
            return settings
        }
    }
}

extension WebServiceClient.Configuration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings with their values, secrets in the service root and the headers masked. Of what is somebody's own type, such as a provider
    /// of credentials, the type is named: what it holds is for it to show.
    public var description: String { MaskedMirror.text(of: customMirror, type: "Configuration") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, one by one: not even a dump shows secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "serviceRoot": SecretMask.text(ofURL: serviceRoot),
                "headers": RequestSecrets.masked(headers, RequestSecrets(rules: headerRules, texts: [])).unmaskedDescription,
                "headerRules": headerRules,
                "allowedOrigins": allowedOrigins.map(SecretMask.text(ofURL:)),
                "authenticationProvider": MaskedMirror.typeName(of: authenticationProvider),
                "proxyAuthenticationProvider": MaskedMirror.typeName(of: proxyAuthenticationProvider),
                "interceptors": interceptors.map { MaskedMirror.typeName(of: $0) },
                "transport": MaskedMirror.typeName(of: transport),
                "trust": trust.map(\.description) ?? "nil",
                "serializer": MaskedMirror.typeName(of: serializer),
                "parsers": MaskedMirror.typeName(of: parsers),
                "statuses": statuses,
                "errorHandler": MaskedMirror.typeName(of: errorHandler),
                "timeouts": timeouts,
                "redirects": redirects,
                "retry": retry,
                "arrays": arrays,
                "urlBuilder": MaskedMirror.typeName(of: urlBuilder),
                "bodyLimit": bodyLimit,
            ])
    }
}

/// What one call has of its own beside its arguments.
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
