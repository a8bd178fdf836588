/// A description of a client's endpoint table as a value, which can be stored, compared with an earlier one, and displayed.
public struct ClientDescription: Codable, Hashable, Sendable {
    /// The format version of this description; later formats have higher numbers.
    public var version = 1
    /// The client's type.
    public var client: String
    /// The endpoints in table order.
    public var endpoints: [Endpoint]
    /// The class's defaults per HTTP method, in the order of the methods' names; `nil` if there are none.
    public var perMethod: [MethodDefaults]?

    /// The defaults of the endpoints with one HTTP method.
    public struct MethodDefaults: Codable, Hashable, Sendable {
        /// The method.
        public var method: String
        /// The names of the headers.
        public var headers: [String]
        /// The statuses that count as success, if the defaults specify them.
        public var success: String?
        /// The required capabilities of the transport.
        public var requires: [String]
        /// The attributes, by type and content.
        public var attributes: [String]
    }

    /// One endpoint.
    public struct Endpoint: Codable, Hashable, Sendable {
        /// The key.
        public var key: String
        /// The method.
        public var method: String
        /// The route as declared.
        public var route: String
        /// The names of the query items that the descriptor adds; `…` represents the fields of an argument.
        public var query: [String]
        /// The names of the headers that the descriptor sets.
        public var headers: [String]
        /// The source of the body: an argument, `implicit` or `none`.
        public var body: String
        /// Whether a method that usually has no body may have one; `nil` if the descriptor doesn't specify it.
        public var allowsBody: Bool?
        /// The statuses that count as success, if the descriptor specifies them.
        public var success: String?
        /// The root inside the payload.
        public var root: String?
        /// The template of the cached response's identifier, as declared.
        public var cacheIdentifier: String?
        /// The template of the call's identifier, as declared, with its policy: `order/%%id%% (reuse)`.
        public var identifier: String?
        /// The required capabilities of the transport.
        public var requires: [String]
        /// The attributes, by type and content.
        public var attributes: [String]
    }

    init(client: String, table: EndpointTable, perMethod: [ServiceRequest.Method: EndpointDefaults] = [:]) {
        self.client = client
        let methods = perMethod.sorted { $0.key.rawValue < $1.key.rawValue }.map { MethodDefaults($0, $1) }
        self.perMethod = methods.isEmpty ? nil : methods
        endpoints = table.entries.map { Endpoint(key: $0.key, $0.descriptor) }
    }
}

extension ClientDescription.MethodDefaults {
    fileprivate init(_ method: ServiceRequest.Method, _ defaults: EndpointDefaults) {
        self.method = method.rawValue
        headers = defaults.headers.map(\.name.rawName)
        success = defaults.settings.statuses?.description
        requires = defaults.settings.requiredCapabilities.descriptions
        attributes = defaults.settings.attributes.all.map { ValueText.text(of: $0) }
    }
}

extension ClientDescription.Endpoint {
    fileprivate init(key: String, _ descriptor: EndpointDescriptor) {
        self.key = key
        method = descriptor.method.rawValue
        route = SecretMask.text(ofURL: descriptor.route.text)
        query = descriptor.query.map { part in
            switch part {
            case .template(let name, _), .named(let name, _): name
            case .reflected: "…"
            }
        }
        headers = descriptor.headers.map { part in
            switch part {
            case .template(let name, _), .bound(let name, _): name.rawName
            case .reflected: "…"
            }
        }
        body =
            switch descriptor.body {
            case .implicit: "implicit"
            case .none: "none"
            case .argument(let argument): "\(argument)"
            }
        allowsBody = descriptor.allowsBody ? true : nil
        let settings = descriptor.settings
        success = settings.statuses?.description ?? settings.moreStatuses.map { "+ \($0)" }
        root = descriptor.root.isEmpty ? nil : descriptor.root.joined(separator: ".")
        cacheIdentifier = descriptor.cacheIdentifier.map(SecretMask.text(ofURL:))
        identifier = descriptor.identifier.map { SecretMask.text(ofURL: $0.description) }
        requires = settings.requiredCapabilities.descriptions
        attributes = settings.attributes.all.map { ValueText.text(of: $0) }
    }
}
