/// The settings of calls on every level: method, class and client. `nil` uses the setting of the level below.
struct EndpointSettings: Sendable {
    /// How a response's body is parsed.
    enum Parsing: Sendable {
        /// The response's Content-Type chooses the parser.
        case byContentType
        /// Uses this parser, regardless of the Content-Type.
        case forced(any SerializationDelegate)
        /// No parsing: the raw bytes.
        case off
    }

    var statuses: StatusSet?
    /// Added to the accepted statuses of the levels below.
    var moreStatuses: StatusSet?
    var errorHandler: (any ErrorHandler)?
    var serializer: (any SerializationDelegate)?
    var parsing: Parsing?
    var timeouts: ServiceTimeouts?
    /// The deadline of the whole call, if it is set without the other deadlines.
    var totalTimeout: Duration?
    var arrays: FieldReflection.ArrayStrategy?
    var urlBuilder: (any URLBuilder)?
    var bodyLimit: Int?
    var trust: TrustPolicy?
    var capabilities: TransportCapabilities = []
    var attributes = EndpointAttributes()

    /// Returns these settings overridden by a higher level's.
    func overlaid(by higher: EndpointSettings) -> EndpointSettings {
        var result = self
        if let statuses = higher.statuses {
            result.statuses = statuses
            result.moreStatuses = nil
        }
        if let more = higher.moreStatuses { result.moreStatuses = result.moreStatuses?.union(more) ?? more }
        result.errorHandler = higher.errorHandler ?? errorHandler
        result.serializer = higher.serializer ?? serializer
        result.parsing = higher.parsing ?? parsing
        if let timeouts = higher.timeouts {
            result.timeouts = timeouts
            result.totalTimeout = nil
        }
        result.totalTimeout = higher.totalTimeout ?? result.totalTimeout
        result.arrays = higher.arrays ?? arrays
        result.urlBuilder = higher.urlBuilder ?? urlBuilder
        result.bodyLimit = higher.bodyLimit ?? bodyLimit
        result.trust = higher.trust ?? trust
        result.capabilities = capabilities.union(higher.capabilities)
        result.attributes = attributes.overlaid(by: higher.attributes)
        return result
    }

    /// How arguments become fields of queries and forms: these settings over the strategies of the serializers, in which the first that
    /// specifies one counts.
    func fields(_ serializers: [(any SerializationDelegate)?]) -> FieldReflection {
        let strategies = serializers.compactMap { ($0 as? JSONSerializer)?.fieldStrategies }
        var fields = FieldReflection(arrays: arrays ?? .repeatedKey)
        fields.keys = strategies.lazy.compactMap(\.keys).first ?? .asDeclared
        fields.dates = strategies.lazy.compactMap(\.dates).first ?? .iso8601
        guard !attributes.isEmpty else { return fields }
        fields.keys = attributes[FieldReflection.KeyStrategy.self] ?? fields.keys
        fields.dates = attributes[FieldReflection.DateStrategy.self] ?? fields.dates
        fields.nesting = attributes[FieldReflection.NestingStrategy.self] ?? fields.nesting
        fields.missing = attributes[FieldReflection.NilStrategy.self] ?? fields.missing
        return fields
    }

    /// The effective set of statuses that count as success.
    var success: StatusSet {
        let base = statuses ?? .success
        return moreStatuses.map(base.union) ?? base
    }

    /// The effective deadlines of a call.
    var deadlines: ServiceTimeouts {
        var deadlines = timeouts ?? ServiceTimeouts()
        if let totalTimeout { deadlines.total = totalTimeout }
        return deadlines
    }

    /// The capabilities of the transport that these settings require.
    var requiredCapabilities: TransportCapabilities {
        let expecting = attributes.isEmpty || attributes[ContinueExpectation.self]?.above == nil ? [] : TransportCapabilities.expectations
        return capabilities.union(trust?.requiredCapabilities ?? []).union(timeouts?.requiredCapabilities ?? []).union(expecting)
    }

    /// Returns the wire names in a dotted root such as `a.b`.
    static func components(of path: String) -> [String] {
        path.isEmpty ? [] : path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

// The ways in which arguments become fields, each of which every level can set.

extension FieldReflection.KeyStrategy: BindingAttribute {
    package static let firstWords = ["keys"]
}

extension FieldReflection.DateStrategy: BindingAttribute {
    package static let firstWords = ["dates"]
}

extension FieldReflection.NestingStrategy: BindingAttribute {}

extension FieldReflection.NilStrategy: BindingAttribute {}
