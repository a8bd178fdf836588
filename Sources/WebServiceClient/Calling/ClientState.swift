import Foundation

/// An immutable snapshot of a client: configuration, compiled table and chain. Calls in flight keep theirs.
final class ClientState: Sendable {
    /// The client that the state belongs to.
    let client: ObjectIdentifier
    let clientName: String
    /// Entries of the profile that have no effect.
    let profileNotes: [String]
    /// The number of the profile's generation.
    let profileGeneration: Int
    /// Watches the calls of a profile on trial.
    let canary: ProfileCanary?
    /// The settings of the client and its environment, with the rules of its session.
    let configuration: WebServiceClient.Configuration
    /// The environment; `nil` without environments.
    let environment: ServiceEnvironment?
    /// The service that the session, and other state of the client, belongs to.
    let place: ServicePlace
    let session: SessionState
    /// Whether several environments have the client's own authentication provider.
    let sharesProvider: Bool
    let table: CompiledTable
    /// Every fault of table, service root and capabilities. A client with faults makes no calls.
    let faults: [TableFault]
    /// The settings and headers of library, client and class.
    let levels: CommonLevels
    /// The chain from the first interceptor to the transport.
    let chain: Chain
    /// The state that the chain's stages share.
    let runtime: ClientRuntime
    /// Whether code of the program takes part in each call, which may wait for anything: interceptors and authentication providers.
    let runsOtherCode: Bool
    /// The service root, split; `nil` when it has placeholders.
    let root: ServiceRoot?
    /// The service root when it has placeholders.
    let rootTemplate: String?
    /// The origins of ``WebServiceClient/Configuration/allowedOrigins``.
    let allowedOrigins: Set<Origin>
    private let endpoints: [String: ResolvedEndpoint]
    /// The endpoints of bare names, by the methods that called them. The limit exceeds the number of methods of any client; only dynamic
    /// calls with labels made at run time reach it.
    private let named = EndpointCache<String>(limit: 1_000)
    /// The endpoints of calls without a table, by their kinds.
    private let kinds = EndpointCache<CallKind>(limit: 200)

    /// - Parameters:
    ///   - own: The client's own settings.
    ///   - environment: The environment, whose settings take precedence.
    ///   - ownRoot: The service root that the client had before, used if neither client nor class has one.
    ///   - generation: The generation of the profile.
    ///   - sessions: The client's sessions.
    init(
        _ client: WebServiceClient, configuration own: WebServiceClient.Configuration, environment: ServiceEnvironment?,
        profile: ServiceProfile?, ownRoot: String = "", generation: ProfileGeneration? = nil, sessions: [ServicePlace: SessionState] = [:]
    ) {
        let type = type(of: client)
        let defaults = type.defaults
        self.client = ObjectIdentifier(client)
        clientName = String(describing: type)
        var configuration = environment?.applied(to: own, of: clientName) ?? own
        self.environment = environment
        sharesProvider = environment?.sharesProvider(of: own, clientName) ?? false
        profileNotes = profile?.notes ?? []
        profileGeneration = generation?.number ?? 0
        canary = generation?.canary
        var rootText = [configuration.serviceRoot, profile?.baseURL ?? "", defaults.serviceRoot].first { !$0.isEmpty } ?? ""
        // The root of class or profile may belong to another environment.
        if environment != nil { rootText = configuration.serviceRoot }
        let root = ServiceRoot.hasPlaceholders(rootText) ? nil : ServiceRoot(rootText)
        self.root = root
        place = ServicePlace(environment: environment?.name, origin: root?.origin)
        session = sessions[place] ?? SessionState()
        configuration.headerRules.secret.formUnion(session.secretHeaders)
        self.configuration = configuration
        let rootTemplate = ServiceRoot.hasPlaceholders(rootText) ? rootText : nil
        self.rootTemplate = rootTemplate
        let levels = CommonLevels(configuration, defaults, session: session.headers)
        self.levels = levels
        if let profile {
            let own = type.endpoints
            table = CompiledTable(
                own.overlaid(byProfile: profile.endpoints), root: rootTemplate, headers: levels.templates, methods: own.keys)
        } else {
            table = CompiledTable.of(type, root: rootTemplate, headers: levels.templates, type.endpoints)
        }
        let (origins, originFaults) = Self.origins(configuration.allowedOrigins, of: "Configuration.allowedOrigins")
        allowedOrigins = origins
        let profileFault = Self.fault(
            of: profile, programRoot: [configuration.serviceRoot, defaults.serviceRoot, ownRoot].first { !$0.isEmpty } ?? "",
            root: rootText, allowed: origins)
        faults =
            Self.faults(table: table, root: rootText, levels: levels, defaults: defaults, configuration: configuration)
            + originFaults + [profileFault].compactMap(\.self)
            + Self.origins(configuration.tracing?.origins ?? [], of: "Configuration.tracing").faults
            + Self.faults(of: environment, root: rootText, client: clientName)
        chain = Chain(
            configuration, allowedOrigins: origins, runtime: client.runtime, session: session.items, place: place,
            hasSchemes: table.plans.values.contains { $0.settings.attributes[SecurityRequirements.self] != nil })
        runtime = client.runtime
        runsOtherCode =
            !configuration.interceptors.isEmpty || configuration.authenticationProvider != nil || !configuration.credentials.isEmpty
            || configuration.proxyAuthenticationProvider != nil
        var endpoints: [String: ResolvedEndpoint] = [:]
        for (key, plan) in table.plans {
            endpoints[key] = ResolvedEndpoint(
                plan, levels[plan.method], clientName: clientName, configuration: configuration, isDeclared: true)
        }
        self.endpoints = endpoints
    }

    /// Returns the endpoint of a method.
    ///
    /// - Throws: ``ServiceError`` if the table has faults or no entry for the method.
    func endpoint(for function: String) throws -> ResolvedEndpoint {
        if !faults.isEmpty { throw tableError(faults, call: identity(function)) }
        if let endpoint = endpoints[function] { return endpoint }
        guard table.hasBareNames else { throw unknown(function) }
        return try named.endpoint(for: function) {
            guard let (plan, faults) = table.plan(byBareNameOf: function) else { throw unknown(function) }
            // A call that doesn't fit isn't a fault of the table.
            guard faults.isEmpty else { throw tableError(faults, call: identity(function), isOwn: table.hasPartialEndpoint(for: function)) }
            return resolve(plan, isDeclared: true)
        }
    }

    /// The endpoint of calls without a table, by their kind.
    func endpoint(of kind: CallKind, _ compile: () throws -> ResolvedEndpoint) rethrows -> ResolvedEndpoint {
        try kinds.endpoint(for: kind, compile)
    }

    /// The number of kinds of calls that are compiled and kept.
    var compiledKinds: Int { kinds.count }

    /// Resolves a plan over this client's settings.
    ///
    /// - Parameter isDeclared: Whether the endpoint is called more than once.
    func resolve(_ plan: EndpointPlan, isDeclared: Bool = false) -> ResolvedEndpoint {
        ResolvedEndpoint(plan, levels[plan.method], clientName: clientName, configuration: configuration, isDeclared: isDeclared)
    }

    /// The error of a call that faults prevent.
    ///
    /// - Parameter isOwn: Whether the faults are in the call itself.
    func tableError(_ found: [TableFault], call: CallIdentity, isOwn: Bool = false) -> ServiceError {
        let faults = TableFaults(client: clientName, faults: found, call: isOwn ? call.key : nil)
        return ServiceError(call: call, stage: .declaration, kind: .table, message: faults.description, cause: faults)
    }

    /// The identity of a declared call, even if the call can't be made.
    private func identity(_ function: String) -> CallIdentity {
        CallIdentity(client: clientName, key: function, route: SecretMask.text(ofURL: table.plans[function]?.route ?? ""))
    }

    private func unknown(_ function: String) -> ServiceError {
        // Prefer the same base name with other labels to any other name.
        let base = function.prefix { $0 != "(" }
        let namesakes = table.keys.filter { $0.prefix { $0 != "(" } == base }
        let nearest = NearestName.of(function, among: namesakes) ?? namesakes.first ?? NearestName.of(function, among: table.keys)
        let hint = nearest.map { "the nearest key is \"\($0)\"" } ?? "keys have the spelling of the method's #function"
        return ServiceError(
            call: CallIdentity(client: clientName, key: function, route: ""), stage: .declaration, kind: .unknownEndpoint,
            message: "The table of \(clientName) has no entry \"\(function)\"; \(hint).")
    }

    // MARK: Making

    static let userAgent = "WebServiceClient-Swift/\(PackageVersion.text)"

    /// The faults of headers that the client or the class sets. The compiler checks the placeholders in their values for each endpoint.
    static func faults(in headers: HTTPFields) -> [TableFault] {
        headers.compactMap { field in
            if !field.isValid {
                return TableFault(
                    kind: .badHeader, key: nil, problem: "the header \"\(field.name)\" of the client or the class has a bad name or value",
                    fix: "only token characters in names; no control characters in values, and no blank Content-Type")
            }
            guard !Template.placeholders(in: field.name.rawName).isEmpty else { return nil }
            return TableFault(
                kind: .badHeader, key: nil,
                problem: "the name of the header \"\(field.name)\" of the client or the class has a placeholder",
                fix: "write the name; only values can have placeholders")
        }
    }

    /// The origins that the program lists, and a fault for each invalid entry.
    static func origins(_ texts: [String], of owner: String) -> (origins: Set<Origin>, faults: [TableFault]) {
        var origins: Set<Origin> = []
        var faults: [TableFault] = []
        for text in texts {
            if let root = ServiceRoot(text), root.query.isEmpty,
                ["", "/"].contains(root.base.dropFirst(ServiceRoot.authority(of: text).count))
            {
                origins.insert(root.origin)
            } else {
                faults.append(
                    TableFault(
                        kind: .badServiceRoot, key: nil,
                        problem: "\"\(SecretMask.text(ofURL: text))\" among the origins of \(owner) isn't an origin",
                        fix: "write scheme, host and port only, like \"https://eu.api.example.com\""))
            }
        }
        return (origins, faults)
    }

    /// The fault of a profile whose service root has an origin that the program doesn't list. A profile may come from an untrusted source,
    /// so it must not decide where credentials go.
    ///
    /// - Parameters:
    ///   - programRoot: The root without the profile.
    ///   - root: The root with the profile.
    static func fault(of profile: ServiceProfile?, programRoot: String, root: String, allowed: Set<Origin>) -> TableFault? {
        guard let profile, !profile.baseURL.isEmpty, root == profile.baseURL, !programRoot.isEmpty else { return nil }
        if let origin = ServiceRoot(root)?.origin {
            if allowed.contains(origin) || ServiceRoot(programRoot)?.origin == origin { return nil }
        } else if ServiceRoot.authority(of: root) == ServiceRoot.authority(of: programRoot) {
            return nil
        }
        let (found, own) = (ServiceRoot.authority(of: root), ServiceRoot.authority(of: programRoot))
        return TableFault(
            kind: .badServiceRoot, key: nil,
            problem: "the profile's BaseURL has the origin \(SecretMask.text(ofURL: found)), and the service's is "
                + SecretMask.text(ofURL: own),
            fix: "if the origin belongs to the service, add it to Configuration.allowedOrigins; a profile changes paths and methods only")
    }

    /// The fault of an environment without a service root for the client: any other root may belong to another environment.
    private static func faults(of environment: ServiceEnvironment?, root: String, client: String) -> [TableFault] {
        guard let environment, root.isEmpty else { return [] }
        return [
            TableFault(
                kind: .badServiceRoot, key: nil, problem: "the environment \"\(environment.name)\" has no service root for \(client)",
                fix: "give it a serviceRoot, or one for \"\(client)\" among its serviceRoots")
        ]
    }

    private static func faults(
        table: CompiledTable, root: String, levels: CommonLevels, defaults: EndpointDefaults, configuration: WebServiceClient.Configuration
    ) -> [TableFault] {
        var headers = configuration.headers
        headers.replace(with: defaults.headers)
        var faults = table.faults + ServiceRoot.faults(in: root) + Self.faults(in: headers)
        for problem in configuration.parsers.faults {
            faults.append(
                TableFault(kind: .badParser, key: nil, problem: problem, fix: "register parsers for media types such as \"text/csv\""))
        }
        let perMethod = defaults.perMethod.mapValues(\.settings)
        faults += RetryCheck.faults(
            table: table, settings: levels.settings, perMethod: perMethod, policy: configuration.retry, budget: configuration.retryBudget)
        faults += SettingsCheck.faults(levels.settings)
        faults += ResilienceCheck.faults(
            table: table, settings: levels.settings, perMethod: perMethod, circuitBreaker: configuration.circuitBreaker,
            injection: configuration.faults)
        faults += (configuration.queue.faults + configuration.redirects.faults).map {
            TableFault(kind: .badLimit, key: nil, problem: $0.problem, fix: $0.fix)
        }
        faults += TrustCheck.faults(levels.settings, key: nil) + DefaultsCheck.perMethodFaults(in: defaults)
        return faults
            + CapabilityCheck.faults(
                table: table, settings: levels.settings, perMethod: perMethod, capabilities: configuration.transport.capabilities)
    }
}
