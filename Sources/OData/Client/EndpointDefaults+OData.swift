public import WebServiceClient

extension EndpointDefaults {
    static func headers(of version: ODataVersion) -> [(String, String)] {
        switch version {
        case .v2: [("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")]
        case .v4, .v401: [("OData-MaxVersion", version.rawValue)]
        }
    }

    /// The headers, the JSON and the errors of a version of OData, for the declared endpoints of an ``ODataClient``'s subclass.
    ///
    /// Endpoints that give `String` or `Data` read it as a value inside JSON, and take the whole body of any other media type; one that is
    /// `.raw()` always takes the whole body.
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
        // What is accepted is left to what is read, so that streams and raw endpoints accept any type.
        var reader = serializer
        reader.format = PayloadFormat(accepting: version)
        return EndpointDefaults(headers: headers, errorHandler: ODataErrorHandler(), serializer: serializer).decoding(with: reader)
    }
}

extension PayloadFormat {
    /// The format whose media type is what is accepted. The prefix `odata.` is known to services of 4.0 and of 4.01.
    init(accepting version: ODataVersion, isIEEE754Compatible: Bool = false) {
        self.init(version: min(version, .v4), isIEEE754Compatible: isIEEE754Compatible)
    }
}
