/// A named set of settings of a service, such as *production*, *staging* or *local*: the service root, headers, deadlines and other
/// settings.
///
///     let environments = try ServiceEnvironments([
///         ServiceEnvironment("production", serviceRoot: "https://api.example.com/v1") {
///             $0.authenticationProvider = productionTokens
///         },
///         ServiceEnvironment("staging", serviceRoot: "https://staging.example.com/v1", headers: ["X-Debug": "1"]) {
///             $0.authenticationProvider = stagingTokens
///         },
///     ])
public struct ServiceEnvironment: Sendable {
    /// The name, unique in its ``ServiceEnvironments``.
    public var name: String
    /// The service root of clients that have none in ``serviceRoots``.
    public var serviceRoot: String
    /// The service roots of individual clients, by the names of their classes: an environment often has several services.
    public var serviceRoots: [String: String]
    /// Further origins of the service. They replace ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``, because those
    /// belong to the client's own service root.
    public var allowedOrigins: [String]
    /// Header fields, which take precedence over those of the client.
    public var headers: HTTPFields
    /// Deadlines, which take precedence over those of the client. A `nil` deadline leaves the client's.
    public var timeouts: ServiceTimeouts
    /// Values for the program, such as the identifier of an OAuth client. The library doesn't use them.
    public var values: [String: String]
    /// Changes a client's settings, after all other settings are applied. It is called for each client and each change of its settings, so
    /// it must set the same providers, jars and caches each time.
    public var configure: (@Sendable (inout WebServiceClient.Configuration) -> Void)?

    /// Whether it is the only one of its ``ServiceEnvironments``.
    var isAlone = false

    /// Creates an environment.
    public init(
        _ name: String, serviceRoot: String = "", serviceRoots: [String: String] = [:], allowedOrigins: [String] = [],
        headers: HTTPFields = [:], timeouts: ServiceTimeouts = ServiceTimeouts(firstByte: nil, idle: nil), values: [String: String] = [:],
        configure: (@Sendable (inout WebServiceClient.Configuration) -> Void)? = nil
    ) {
        self.name = name
        self.serviceRoot = serviceRoot
        self.serviceRoots = serviceRoots
        self.allowedOrigins = allowedOrigins
        self.headers = headers
        self.timeouts = timeouts
        self.values = values
        self.configure = configure
    }

    /// The service root of a client class; empty if the environment has none for it.
    func root(of client: String) -> String { serviceRoots[client] ?? serviceRoot }

    /// Returns a client's settings with those of the environment.
    ///
    /// - Parameter client: The name of the client's class.
    func applied(to configuration: WebServiceClient.Configuration, of client: String) -> WebServiceClient.Configuration {
        var result = configuration
        result.serviceRoot = root(of: client)
        result.allowedOrigins = allowedOrigins
        result.headers.replace(with: headers)
        if let firstByte = timeouts.firstByte { result.timeouts.firstByte = firstByte }
        if let idle = timeouts.idle { result.timeouts.idle = idle }
        if let connect = timeouts.connect { result.timeouts.connect = connect }
        if let total = timeouts.total { result.timeouts.total = total }
        configure?(&result)
        return result
    }

    /// Whether this environment uses the client's own authentication provider, so that others may use it too.
    func sharesProvider(of configuration: WebServiceClient.Configuration, _ client: String) -> Bool {
        let hasProvider = configuration.authenticationProvider != nil
        guard !isAlone, hasProvider || !configuration.credentials.isEmpty else { return false }
        var probe = configuration
        probe.authenticationProvider = nil
        probe.credentials = [:]
        let own = applied(to: probe, of: client)
        return hasProvider ? own.authenticationProvider == nil : own.credentials.isEmpty
    }

    /// The faults of the environment, each with its fix.
    var faults: [String] {
        var faults: [String] = []
        let place = "the environment \"\(name)\""
        if name.isEmpty || name.contains(where: \.isNewline) {
            faults.append("an environment's name is empty or has a line break: give it a word such as \"staging\"")
        }
        if serviceRoot.isEmpty, serviceRoots.isEmpty {
            faults.append("\(place) has no service root: give it one, such as \"https://staging.example.com\"")
        }
        for (client, root) in [("", serviceRoot)] + serviceRoots.sorted(by: { $0.key < $1.key }) {
            if root.isEmpty, !client.isEmpty {
                faults.append("\(place) has an empty service root of \(client): remove it, or give it a URL")
            }
            faults += ServiceRoot.faults(in: root).map { "\(place): \($0)" }
        }
        faults += ClientState.origins(allowedOrigins, of: place).faults.map(\.description)
        for field in headers where !field.isValid {
            faults.append(
                "\(place): the header \"\(field.name)\" has a bad name or value: use token characters in names and no controls in values")
        }
        for (key, deadline) in [
            ("FirstByte", timeouts.firstByte), ("Idle", timeouts.idle), ("Connect", timeouts.connect), ("Total", timeouts.total),
        ] {
            if let deadline, deadline <= .zero {
                faults.append("\(place): the deadline \(key) isn't positive: give it seconds, or leave it out")
            }
        }
        return faults
    }
}

extension ServiceEnvironment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and the settings, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceEnvironment") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``: a dump shows no secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "serviceRoot": SecretMask.text(ofURL: serviceRoot),
                "serviceRoots": serviceRoots.sorted { $0.key < $1.key }.map { "\($0.key): \(SecretMask.text(ofURL: $0.value))" },
                "allowedOrigins": allowedOrigins.map(SecretMask.text(ofURL:)),
                "headers": headers.map { "\($0.name): \(SecretMask.text(of: $0))" }, "timeouts": timeouts,
                "values": values.keys.sorted(),
            ])
    }
}

extension WebServiceClient {
    /// Creates a client with the service root and settings of the current environment.
    ///
    ///     let shop = Shop(environments: environments)
    ///
    /// - Parameters:
    ///   - environments: The environments. The client retains them.
    ///   - configure: Sets the settings that all environments share; an environment's settings take precedence. Credentials belong to an
    ///     environment: set its authentication provider in ``ServiceEnvironment/configure``.
    public convenience init(environments: ServiceEnvironments, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(serviceRoot: "", configure: configure)
        follow(environments)
    }

    /// Makes the client use the current environment, now and after each change. With `nil`, the client uses only its own settings. Calls in
    /// flight keep their settings.
    ///
    /// ``configuration`` doesn't contain the settings of the environment.
    public func follow(_ environments: ServiceEnvironments?) {
        guard let environments else { return replaceEnvironments(nil, nil, number: 0) }
        let current = environments.add(self)
        replaceEnvironments(environments, current.environment, number: current.number)
        // A change in between may not have reached this client.
        let latest = environments.add(self)
        apply(latest.environment, number: latest.number, of: environments)
        if let fault = environments.choiceFault {
            configuration.diagnostics.report(.init(.warning, "\(String(describing: type(of: self))): \(fault)"))
        }
    }

    /// The environment whose settings the client uses; `nil` without environments.
    public var environment: ServiceEnvironment? { state.environment }
}
