public import ODataMetadata

extension ODataQuery {
    /// Compares the request with the model of the service, without sending anything.
    ///
    /// It reports:
    /// - entity sets, properties, navigation properties, types and operations that the model doesn't have, with the nearest name;
    /// - keys that aren't keys of the type;
    /// - literals of another type than the property's, and members that aren't in the enumeration;
    /// - options that the service excludes by the Capabilities vocabulary (filter, sort, expand, search, count, select, top, skip,
    ///   functions) or by SAP's attributes (`sap:filterable`, `sap:sortable`, `sap:pageable` and others).
    ///
    /// It doesn't verify raw parts, dynamic properties of open types, and types of documents that the model doesn't include. In `$apply` it
    /// stops after the first transformation with a result of another shape.
    ///
    /// - Returns: All differences, in the order of the request; empty if there are none.
    public func verify(against model: ServiceModel) -> [ModelFault] {
        RequestVerifier.faults(in: self, model)
    }

    /// Returns the request if it fits the model of the service: see ``verify(against:)``.
    ///
    /// - Parameter ignored: Kinds of differences to ignore, such as ``ModelFault/Kind/restriction`` for services with wrong annotations.
    /// - Throws: ``ModelFaults`` with all differences.
    public func verified(against model: ServiceModel, ignoring ignored: Set<ModelFault.Kind> = []) throws -> ODataQuery {
        let faults = verify(against: model).filter { !ignored.contains($0.kind) }
        guard faults.isEmpty else { throw ModelFaults(subject: "The request of \(resource.route)", faults: faults) }
        return self
    }
}

extension FetchRequest {
    /// Compares the request with the model of the service, without sending anything: see ``ODataQuery/verify(against:)``.
    ///
    /// The properties that ``Entity`` decodes are compared too if the request selects them by default.
    public func verify(against model: ServiceModel) -> [ModelFault] {
        query.verify(against: model)
    }

    /// Returns the request if it fits the model of the service:
    /// `try await client.fetch(request.verified(against: client.model()))`.
    ///
    /// - Parameter ignored: Kinds of differences to ignore.
    /// - Throws: ``ModelFaults`` with all differences.
    public func verified(against model: ServiceModel, ignoring ignored: Set<ModelFault.Kind> = []) throws -> FetchRequest {
        _ = try query.verified(against: model, ignoring: ignored)
        return self
    }
}

extension EntityRequest {
    /// Compares the request with the model of the service, without sending anything: see ``ODataQuery/verify(against:)``.
    public func verify(against model: ServiceModel) -> [ModelFault] {
        query.verify(against: model)
    }

    /// Returns the request if it fits the model of the service: see ``ODataQuery/verified(against:ignoring:)``.
    ///
    /// - Parameter ignored: Kinds of differences to ignore.
    /// - Throws: ``ModelFaults`` with all differences.
    public func verified(against model: ServiceModel, ignoring ignored: Set<ModelFault.Kind> = []) throws -> EntityRequest {
        _ = try query.verified(against: model, ignoring: ignored)
        return self
    }
}
