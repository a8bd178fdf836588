public import ODataMetadata

extension ODataClient {
    /// Takes the protocol version, the V2 date spelling and a few batch and query settings from the model of the service.
    ///
    /// It sets the version of ``printer``, from the document and `Core.ODataVersions`; the spelling of version 2's points in time, from the
    /// types of the properties; and ``batching``'s format if it is `.automatic` and the model declares exactly one of JSON and multipart.
    /// It turns off ``longQueries`` if the service excludes `/$query`. Other settings don't change.
    public func adopt(_ model: ServiceModel) {
        printer = printer.adopting(model)
        if let format = model.onlyBatchFormat, batching.format == .automatic { batching.format = format }
        if model.excludesQuerySegment { longQueries = .get }
    }
}

extension QueryPrinter {
    /// Returns the printer with the version and the spellings of a service's model.
    ///
    /// Queries for services of OData 3.0 are written as those of 2.0, which they support, too.
    public func adopting(_ model: ServiceModel) -> QueryPrinter {
        var printer = self
        printer.version = model.protocolVersion
        if let spelling = model.v2Dates { printer.v2Dates = spelling }
        return printer
    }
}

extension ServiceModel {
    /// The latest version of the protocol that the service supports, according to the model: the version of the document, or a later one of
    /// `Core.ODataVersions`.
    fileprivate var protocolVersion: ODataVersion {
        if version < .v4 { return .v2 }
        if version == .v401 { return .v401 }
        let stated = container.flatMap { annotation("Org.OData.Core.V1.ODataVersions", of: $0) }?.value?.text ?? ""
        return stated.split(separator: " ").contains("4.01") ? .v401 : .v4
    }

    /// The spelling of points in time in version 2, if all properties use the same type for them.
    fileprivate var v2Dates: V2DateSpelling? {
        var types: Set<String> = []
        for schema in schemas {
            for type in schema.entityTypes + schema.complexTypes { types.formUnion(type.properties.map(\.type.name)) }
        }
        switch (types.contains("Edm.DateTime"), types.contains("Edm.DateTimeOffset")) {
        case (true, false): return .dateTime
        case (false, true): return version < .v4 ? .dateTimeOffset : nil
        default: return nil
        }
    }

    private func capability(_ term: String) -> Annotation? {
        container.flatMap { annotation("Org.OData.Capabilities.V1." + term, of: $0) }
    }

    /// The format of batches, if the service declares exactly one.
    fileprivate var onlyBatchFormat: BatchSettings.Format? {
        let formats = capability("BatchSupport")?.value?["SupportedFormats"]?.elements?.compactMap(\.text) ?? []
        switch (formats.contains { $0.hasPrefix("application/json") }, formats.contains { $0.hasPrefix("multipart/mixed") }) {
        case (true, false): return .json
        case (false, true): return .multipart
        default: return nil
        }
    }

    fileprivate var excludesQuerySegment: Bool {
        capability("QuerySegmentSupported").map { $0.value?.boolValue == false } ?? false
    }
}
