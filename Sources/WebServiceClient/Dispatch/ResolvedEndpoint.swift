/// An endpoint as one client sees it: the plan, with the settings of all levels laid over one another.
final class ResolvedEndpoint: Sendable {
    let plan: EndpointPlan
    let settings: EndpointSettings
    let identity: CallIdentity
    /// Library < client < class < the endpoint's fixed headers.
    let headers: HTTPFields
    let success: StatusSet
    let serializer: any SerializationDelegate
    let decoder: BodyDecoder
    let bodyLimit: Int

    init(
        _ plan: EndpointPlan, settings lower: EndpointSettings, headers: HTTPFields, parsers: SerializationRegistry, clientName: String,
        configuration: WebServiceClient.Configuration
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
        if let own = plan.settings.serializer { headers[.accept] = own.contentType }
        for header in plan.headers {
            if case .fixed(let name, let value) = header { headers[name] = value }
        }
        self.headers = headers
        success = settings.success
        decoder = BodyDecoder(
            parsers: (form ?? plan.settings.serializer).map(configuration.parsers.completed) ?? parsers, serializer: form ?? serializer,
            parsing: settings.parsing ?? .byContentType)
        bodyLimit = settings.bodyLimit ?? configuration.bodyLimit
    }
}
