/// The attributes of this library that leave the program as data. Descriptions, profiles, OpenAPI documents and stored calls use this list.
///
/// To add an attribute, let it conform to `PortableAttribute` in its file, and add its type here.
enum AttributeCatalog {
    /// The types of the attributes.
    static let types: [any DescribedAttribute.Type] =
        [
            BodyCompression.self, CacheMode.self, CacheTags.self, CallIdentifier.self, CallPriority.self, CircuitBreakerPolicy.self,
            Coalescing.self, ContinueExpectation.self, CookiePolicy.self, DigestVerification.self, EndpointCaching.self,
            ExpectedDigest.self, FailingEvents.self, FaultPlan.self, FieldReflection.DateStrategy.self, FieldReflection.KeyStrategy.self,
            FieldReflection.NestingStrategy.self, FieldReflection.NilStrategy.self, HedgingPolicy.self, Idempotence.self,
            IdempotencyKey.self, IdempotencyKey.Given.self, OfflineCaching.self, PagingStyle.self, ProblemReading.self, RateLimit.self,
            ReconnectionPolicy.self, RedirectPolicy.self, RetryPolicy.self, SecurityRequirements.self, SentDigest.self,
            ServiceRateLimits.self, Solicited.self, StreamEnd.self, StreamFraming.self, WaitingForNetwork.self, WebSocketSettings.self,
        ] + (logging.map { [$0] } ?? [])

    /// The attribute of RemoteLogger, by its mangled name, because this module doesn't import that one; `nil` in a program without it.
    private static let logging = _typeByName("12RemoteLogger16LoggingAttributeV") as? any PortableAttribute.Type

    /// The names of the attributes that aren't data, each with the reason.
    static let others = [
        "WebServiceClient.ClientRateLimit": "it counts the calls of a client together, so only a class or a client has it",
        "WebServiceClient.OfferedTurn": "it belongs to a call that runs",
        "WebServiceClient.OperationInfo": "it is the documentation of an operation, which the OpenAPI document contains",
        "WebServiceClient.RetryDecider": "it is a closure",
    ]

    // MARK: Texts

    /// The types by the first words of their texts.
    private static let typesByWord: [String: [any DescribedAttribute.Type]] = {
        var found: [String: [any DescribedAttribute.Type]] = [:]
        for type in types { for word in type.firstWords { found[word, default: []].append(type) } }
        return found
    }()

    /// Returns the attribute with a text of a description.
    ///
    /// An attribute is read only if its own text is the same, so that a description never leads to another endpoint.
    ///
    /// - Returns: `nil` if the text isn't known, belongs to a type of the program, or has a value that the source may not set.
    static func attribute(_ text: String, from source: AttributeSource) -> (any EndpointAttribute)? {
        // A mark may form one character with the text after it.
        let word = text.unicodeScalars.prefix { $0 != " " && $0 != "." && $0 != "(" }
        for type in typesByWord[String(word)] ?? [] {
            guard let found = type.init(described: text), ClientDescription.text(of: found) == text else { continue }
            return found.leastTrustedSource >= source ? found : nil
        }
        return nil
    }

    // MARK: Stored calls

    /// The types that stored calls contain, by their names.
    static let storedTypes: [String: any (EndpointAttribute & Decodable).Type] = {
        var found: [String: any (EndpointAttribute & Decodable).Type] = [:]
        for type in types {
            if let type = type as? any PortableAttribute.Type { found[storedName(of: type)] = type }
        }
        return found
    }()

    /// Returns the name by which an attribute of a type is stored.
    static func storedName(of type: Any.Type) -> String {
        // The module's name distinguishes this library's types from types of the program with the same name.
        let name = String(reflecting: type)
        return name.hasPrefix("WebServiceClient.") ? name : String(describing: type)
    }
}
