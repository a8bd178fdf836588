public import ODataMetadata

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
    /// The latest version of the protocol that the service supports, as far as the model tells: the document's, or a later one of
    /// `Core.ODataVersions`.
    fileprivate var protocolVersion: ODataVersion {
        if version < .v4 { return .v2 }
        if version == .v401 { return .v401 }
        let stated = container.flatMap { annotation("Org.OData.Core.V1.ODataVersions", of: $0) }?.value?.text ?? ""
        return stated.split(separator: " ").contains("4.01") ? .v401 : .v4
    }

    /// The spelling of points in time in version 2 if the properties have only one type of them.
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
}
