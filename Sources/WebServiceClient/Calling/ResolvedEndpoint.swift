/// An endpoint as one client sees it: the plan, with the settings of all levels laid over one another.
final class ResolvedEndpoint: Sendable {
    let plan: EndpointPlan
    let settings: EndpointSettings
    let identity: CallIdentity
    /// Library < client < class < the endpoint's fixed headers.
    let headers: HTTPFields
    /// What is accepted, as long as nobody says: what the endpoint reads.
    let accepted: String
    /// Whether client, class or endpoint say what is accepted.
    let hasOwnAccept: Bool
    let success: StatusSet
    let serializer: any SerializationDelegate
    let decoder: BodyDecoder
    let bodyLimit: Int
    let headerRules: HeaderRules
    /// What all requests have beside what is bound.
    let requestDetails: RequestDetails.Shared

    /// An endpoint of a client.
    ///
    /// - Parameters:
    ///   - headers: those of library, client and class.
    ///   - hasOwnAccept: whether client or class say what is accepted; else it is what the endpoint reads.
    ///   - isDeclared: whether there will be more calls of it, which something is kept for.
    init(
        _ plan: EndpointPlan, settings lower: EndpointSettings, headers: HTTPFields, hasOwnAccept: Bool, parsers: SerializationRegistry,
        clientName: String, configuration: WebServiceClient.Configuration, isDeclared: Bool
    ) {
        self.plan = plan
        let settings = lower.overlaid(by: plan.settings)
        self.settings = settings
        identity = CallIdentity(
            client: clientName, key: plan.label.map(SecretMask.text(ofURL:)) ?? plan.key.description,
            route: SecretMask.text(ofURL: plan.route))
        let serializer = settings.serializer ?? configuration.serializer
        let form = (serializer as? FormSerializer)?.following(settings.arrays)
        self.serializer = form ?? serializer
        var headers = headers
        accepted = Self.accepted(settings, serializer)
        self.hasOwnAccept = hasOwnAccept || plan.headers.contains { $0.name == .accept }
        if !hasOwnAccept { headers[.accept] = accepted }
        for header in plan.headers {
            if case .fixed(let name, let value) = header { headers[name] = value }
        }
        self.headers = headers
        success = settings.success
        decoder = BodyDecoder(
            parsers: (form ?? plan.settings.serializer).map(configuration.parsers.completed) ?? parsers, serializer: form ?? serializer,
            parsing: settings.parsing ?? .byContentType)
        bodyLimit = settings.bodyLimit ?? configuration.bodyLimit
        headerRules = configuration.headerRules
        requestDetails = RequestDetails.Shared(
            RequestDetails(
                timeouts: settings.deadlines, trust: settings.trust, identity: identity,
                secrets: RequestSecrets(rules: configuration.headerRules, texts: [])),
            commonFields: isDeclared ? CommonFields(headers) : nil)
    }

    /// What the endpoint reads.
    private static func accepted(_ settings: EndpointSettings, _ serializer: any SerializationDelegate) -> String {
        switch settings.parsing ?? .byContentType {
        case .byContentType: serializer.contentType
        case .forced(let parser): parser.contentType
        case .off: "*/*"
        }
    }
}
