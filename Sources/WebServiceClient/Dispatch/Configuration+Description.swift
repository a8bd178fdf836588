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
