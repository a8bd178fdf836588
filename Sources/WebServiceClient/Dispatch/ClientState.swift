import Foundation

/// What a client is at one moment: configuration, compiled table and chain. Immutable, so calls in flight keep theirs.
final class ClientState: Sendable {
    /// Which client it is the state of.
    let client: ObjectIdentifier
    let clientName: String
    /// What stands in the profile and means nothing to it.
    let profileNotes: [String]
    let configuration: WebServiceClient.Configuration
    let table: CompiledTable
    /// Every fault of table, service root and capabilities; a client with faults makes no call.
    let faults: [TableFault]
    /// Library < client < class.
    let headers: HTTPFields
    /// The chain from the first interceptor to the transport.
    let chain: NextInterceptor
    /// The service root, split; `nil` when it has placeholders.
    let root: ServiceRoot?
    /// The service root when it has placeholders.
    let rootTemplate: String?
    private let settings: EndpointSettings
    /// Whether client or class say what is accepted.
    private let hasOwnAccept: Bool
    /// The configuration's parsers, laid over the library's.
    private let parsers: SerializationRegistry
    private let endpoints: [String: ResolvedEndpoint]
    /// The endpoints of bare names, by the methods that have called them.
    private let named = Locked<[String: ResolvedEndpoint]>([:])
    /// More methods than a client can have; dynamic calls with labels made at run time are compiled each time beyond that.
    private static let namedLimit = 1_000

    /// - Parameter methods: keys of methods, beside the class's, that bare names of the profile must fit.
    init(
        _ client: WebServiceClient, configuration: WebServiceClient.Configuration, profile: ServiceProfile?, methods: [String] = []
    ) {
        let type = type(of: client)
        let defaults = type.defaults
        self.client = ObjectIdentifier(client)
        clientName = String(describing: type)
        self.configuration = configuration
        profileNotes = profile?.notes ?? []
        let rootText = [configuration.serviceRoot, profile?.baseURL ?? "", defaults.serviceRoot].first { !$0.isEmpty } ?? ""
        let rootTemplate = ServiceRoot.hasPlaceholders(rootText) ? rootText : nil
        self.rootTemplate = rootTemplate
        if let profile {
            let own = type.endpoints.keys
            table = CompiledTable(
                type.endpoints.overlaid(byProfile: profile.endpoints), root: rootTemplate,
                methods: own + methods.filter { !own.contains($0) })
        } else {
            table = CompiledTable.of(type, root: rootTemplate)
        }
        root = rootTemplate == nil ? ServiceRoot(rootText) : nil
        settings = configuration.settings.overlaid(by: defaults.settings)
        let serializer = settings.serializer ?? configuration.serializer
        let parsers = configuration.parsers.completed(by: serializer)
        self.parsers = parsers
        var headers: HTTPFields = ["User-Agent": Self.userAgent]
        headers.replace(with: configuration.headers)
        headers.replace(with: defaults.headers)
        self.headers = headers
        let hasOwnAccept = configuration.headers.contains(.accept) || defaults.headers.contains(.accept)
        self.hasOwnAccept = hasOwnAccept
        faults = Self.faults(
            table: table, root: rootText, settings: settings, headers: headers, configuration: configuration)
        chain = Self.chain(configuration)
        var endpoints: [String: ResolvedEndpoint] = [:]
        for (key, plan) in table.plans {
            endpoints[key] = ResolvedEndpoint(
                plan, settings: settings, headers: headers, hasOwnAccept: hasOwnAccept, parsers: parsers, clientName: clientName,
                configuration: configuration, isDeclared: true)
        }
        self.endpoints = endpoints
    }

    /// The endpoint of a method.
    ///
    /// - Throws: ``ServiceError`` when the table has faults or no such entry.
    func endpoint(for function: String) throws -> ResolvedEndpoint {
        if !faults.isEmpty { throw tableError(faults, call: identity(function)) }
        if let endpoint = endpoints[function] { return endpoint }
        if let endpoint = named.withLock({ $0[function] }) { return endpoint }
        if let name = try? MethodName(function), let descriptor = table.bareNames[name.baseName] {
            var (plan, faults) = EndpointCompiler.compile(descriptor, for: name, root: rootTemplate)
            if let fault = ReservedKeys.fault(of: name) { faults.append(fault) }
            guard faults.isEmpty else { throw tableError(faults, call: identity(function)) }
            let endpoint = resolve(plan, isDeclared: true)
            named.withLock { if $0.count < Self.namedLimit { $0[function] = endpoint } }
            return endpoint
        }
        throw unknown(function)
    }

    /// The methods that were served by bare names.
    var calledByBareName: Set<String> { named.withLock { Set($0.keys) } }

    /// A plan with this client's settings beneath its own.
    ///
    /// - Parameter isDeclared: whether there will be more calls of it.
    func resolve(_ plan: EndpointPlan, isDeclared: Bool = false) -> ResolvedEndpoint {
        ResolvedEndpoint(
            plan, settings: settings, headers: headers, hasOwnAccept: hasOwnAccept, parsers: parsers, clientName: clientName,
            configuration: configuration, isDeclared: isDeclared)
    }

    /// The error of a call that isn't made because of faults.
    ///
    /// - Parameter isOwn: whether the faults are the call's own.
    func tableError(_ found: [TableFault], call: CallIdentity, isOwn: Bool = false) -> ServiceError {
        let faults = TableFaults(client: clientName, faults: found, call: isOwn ? call.key : nil)
        return ServiceError(call: call, stage: .declaration, kind: .table, message: faults.description, cause: faults)
    }

    /// The identity of a declared call, also where it can't be made.
    private func identity(_ function: String) -> CallIdentity {
        CallIdentity(client: clientName, key: function, route: SecretMask.text(ofURL: table.plans[function]?.route ?? ""))
    }

    private func unknown(_ function: String) -> ServiceError {
        // The same base name with other labels is nearer than any other name.
        let base = function.prefix { $0 != "(" }
        let namesakes = table.keys.filter { $0.prefix { $0 != "(" } == base }
        let nearest = NearestName.of(function, among: namesakes) ?? namesakes.first ?? NearestName.of(function, among: table.keys)
        let hint = nearest.map { "the nearest key is \"\($0)\"" } ?? "its keys are spelled as #function spells the methods"
        return ServiceError(
            call: CallIdentity(client: clientName, key: function, route: ""), stage: .declaration, kind: .unknownEndpoint,
            message: "The table of \(clientName) has no entry \"\(function)\"; \(hint).")
    }

    // MARK: Making

    static let userAgent = "WebServiceClient-Swift/\(PackageVersion.text)"

    /// The chain of design: interceptors (log, preparers) → the call's own preparation → redirects → retry → record →
    /// authentication → transport.
    private static func chain(_ configuration: WebServiceClient.Configuration) -> NextInterceptor {
        let end = TransportStage(transport: configuration.transport)
        var chain: NextInterceptor
        if configuration.authenticationProvider != nil || configuration.proxyAuthenticationProvider != nil {
            let authentication = AuthenticationInterceptor(
                configuration.authenticationProvider, proxy: configuration.proxyAuthenticationProvider,
                opensTunnels: configuration.transport.capabilities.contains(.proxyAuthentication))
            chain = stages(configuration) { request, context in
                try await authentication.intercept(request, context: context) { request, context in try await end.send(request, context) }
            }
        } else {
            chain = stages(configuration) { request, context in try await end.send(request, context) }
        }
        for interceptor in configuration.interceptors.reversed() {
            let next = chain
            chain = { request, context in try await interceptor.intercept(request, context: context, next: next) }
        }
        return chain
    }

    /// The library's own stages up to authentication in one closure, so that the compiler can inline each into the one before: all but `Retry`,
    /// whose loop it keeps as a function.
    @inline(__always)
    private static func stages(
        _ configuration: WebServiceClient.Configuration, end: @escaping NextInterceptor
    ) -> NextInterceptor {
        let (preparation, record) = (CallPreparation(), ExchangeRecord())
        let (redirects, retry) = (Redirects(policy: configuration.redirects), Retry(policy: configuration.retry))
        return { request, context in
            try await preparation.intercept(request, context: context) { request, context in
                try await redirects.intercept(request, context: context) { request, context in
                    try await retry.intercept(request, context: context) { request, context in
                        try await record.intercept(request, context: context, next: end)
                    }
                }
            }
        }
    }

    /// The faults of headers that the client or the class gives.
    static func faults(in headers: HTTPFields) -> [TableFault] {
        headers.filter { !$0.isValid }.map { field in
            TableFault(
                kind: .badHeader, key: nil, problem: "the header \"\(field.name)\" of the client or the class has a bad name or value",
                fix: "only token characters in names; no CR, LF or NUL in values, and no blank Content-Type")
        }
    }

    private static func faults(
        table: CompiledTable, root: String, settings: EndpointSettings, headers: HTTPFields, configuration: WebServiceClient.Configuration
    ) -> [TableFault] {
        var faults = table.faults + ServiceRoot.faults(in: root) + Self.faults(in: headers)
        for problem in configuration.parsers.faults {
            faults.append(
                TableFault(kind: .badParser, key: nil, problem: problem, fix: "register parsers for media types such as \"text/csv\""))
        }
        faults += TrustCheck.faults(settings, key: nil)
        return faults + CapabilityCheck.faults(table: table, settings: settings, capabilities: configuration.transport.capabilities)
    }
}
