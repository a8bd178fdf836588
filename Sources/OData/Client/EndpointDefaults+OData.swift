public import WebServiceClient

extension EndpointDefaults {
    static func headers(of version: ODataVersion) -> [(String, String)] {
        switch version {
        case .v2: [("Accept", "application/json"), ("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")]
        case .v4, .v401: [("Accept", "application/json;odata.metadata=minimal"), ("OData-MaxVersion", version.rawValue)]
        }
    }

    /// The headers, the JSON and the errors of a version of OData, for the declared endpoints of an ``ODataClient``'s subclass.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - types: the types that ``Polymorphic`` values are decoded as.
    ///   - userInfo: what the types' own coding finds in `userInfo`.
    public static func odata(
        _ version: ODataVersion = .v4, types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) -> EndpointDefaults {
        let serializer = ODataSerializer(format: PayloadFormat(version: version), types: types, userInfo: userInfo)
        var headers = HTTPFields()
        for (name, value) in Self.headers(of: version) { headers[HTTPFields.Name(name)] = value }
        return EndpointDefaults(headers: headers, errorHandler: ODataErrorHandler(), serializer: serializer).decoding(with: serializer)
    }
}
