/// An endpoint with the settings of one client: the plan with the settings of all levels merged.
final class ResolvedEndpoint: Sendable {
    let plan: EndpointPlan
    let settings: EndpointSettings
    let identity: CallIdentity
    /// The fields of library, client, class, and the endpoint's fixed headers; later levels win.
    let headers: HTTPFields
    /// The default `Accept` value: the format that the endpoint reads.
    let accepted: String
    /// Whether client, class or endpoint set `Accept`.
    let hasOwnAccept: Bool
    let success: StatusSet
    let serializer: any SerializationDelegate
    /// How arguments become fields of queries and forms.
    let fields: FieldReflection
    let decoder: BodyDecoder
    let bodyLimit: Int
    let headerRules: HeaderRules
    /// Whether the endpoint's list is split into pages.
    let isPaged: Bool
    /// The parts common to all requests of the endpoint.
    let requestDetails: RequestDetails.Shared

    /// Creates an endpoint of a client.
    ///
    /// - Parameters:
    ///   - common: What client and class set for endpoints of the method.
    ///   - isDeclared: Whether the endpoint is called more than once, so that it keeps values for later calls.
    init(
        _ plan: EndpointPlan, _ common: CommonSettings, clientName: String, configuration: WebServiceClient.Configuration,
        isDeclared: Bool
    ) {
        self.plan = plan
        let settings = common.settings.overlaid(by: plan.settings)
        self.settings = settings
        identity = CallIdentity(
            client: clientName, key: plan.label.map(SecretMask.text(ofURL:)) ?? plan.key.description,
            route: SecretMask.text(ofURL: plan.route))
        let serializer = settings.serializer ?? configuration.serializer
        let serializers = (plan.settings.serializer.map { [$0] } ?? []) + common.serializers
        fields = settings.fields(serializers)
        let form = (serializer as? FormSerializer)?.following(fields)
        self.serializer = form ?? serializer
        var headers = common.headers
        accepted = Self.accepted(settings, serializers)
        hasOwnAccept = common.hasOwnAccept || plan.headers.contains { $0.name == .accept }
        if !common.hasOwnAccept { headers[.accept] = accepted }
        for header in plan.headers {
            header.bind(to: &headers)
        }
        self.headers = headers
        success = settings.success
        decoder = BodyDecoder(
            parsers: (form ?? plan.settings.serializer).map { configuration.parsers.completed(by: [$0] + serializers) } ?? common.parsers,
            serializer: form ?? serializer,
            parsing: settings.parsing ?? .byContentType)
        bodyLimit = settings.bodyLimit ?? configuration.bodyLimit
        headerRules = configuration.headerRules
        isPaged = !settings.attributes.isEmpty && settings.attributes[PagingStyle.self] != nil
        requestDetails = RequestDetails.Shared(
            RequestDetails(
                timeouts: settings.deadlines, trust: settings.trust, identity: identity,
                secrets: RequestSecrets(rules: configuration.headerRules, texts: [])),
            commonFields: isDeclared ? CommonFields(headers) : nil)
    }

    /// The media type that the endpoint reads.
    ///
    /// Services that take forms usually answer in another format: that of the next serializer comes before forms.
    private static func accepted(_ settings: EndpointSettings, _ serializers: [any SerializationDelegate]) -> String {
        switch settings.parsing ?? .byContentType {
        case .byContentType:
            let first = serializers.first.map(mediaType(of:)) ?? "*/*"
            guard serializers.first is FormSerializer, let other = serializers.first(where: { !($0 is FormSerializer) }) else {
                return first
            }
            return "\(mediaType(of: other)), \(first);q=0.5"
        case .forced(let parser): return mediaType(of: parser)
        case .off: return "*/*"
        }
    }

    /// The media type of a serializer; for JSON and forms without the charset, which is that of the bodies sent.
    private static func mediaType(of serializer: any SerializationDelegate) -> String {
        let whole = serializer.contentType
        guard serializer is JSONSerializer || serializer is FormSerializer, whole.utf8.contains(UInt8(ascii: ";")),
            let type = MediaType(whole)
        else { return whole }
        let kept = type.parameters.filter { $0.name != "charset" }.map { (name: $0.name, value: $0.value) }
        return MediaType(type: type.type, subtype: type.subtype, parameters: kept)?.description ?? whole
    }
}
