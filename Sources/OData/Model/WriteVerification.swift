public import ODataMetadata
public import WebServiceClient

/// The model that a client compares changes with before it sends them: ``ODataClient/writeVerification``.
public struct WriteVerification: Sendable {
    /// The model of the service.
    public var model: ServiceModel
    /// The kinds of differences to ignore, such as ``ModelFault/Kind/restriction`` for services with wrong annotations.
    public var ignored: Set<ModelFault.Kind>

    /// Creates a verification.
    public init(against model: ServiceModel, ignoring ignored: Set<ModelFault.Kind> = []) {
        self.model = model
        self.ignored = ignored
    }
}

extension ODataClient {
    /// The model that changes are compared with before they are sent. Default: `nil`, for no comparison.
    ///
    ///     client.writeVerification = WriteVerification(against: try await client.model())
    ///
    /// A change that doesn't fit isn't sent: the call throws a `ServiceError` of the kind
    /// ``/WebServiceClient/ServiceError/Kind/model``, whose cause is ``ModelFaults`` with all differences. A batch that contains such a
    /// change isn't sent. `verify(against:_:)` describes what is compared.
    public var writeVerification: WriteVerification? {
        get { (writeCheck as? ModelWriteCheck)?.verification }
        set { writeCheck = newValue.map { ModelWriteCheck($0) } }
    }
}

extension ServiceClient where Self: ODataClient {
    /// Compares the changes that a closure makes with the model of the service, without sending anything.
    ///
    ///     let faults = try await client.verify(against: model) { try await $0.create(order, in: FetchRequest<Order>()) }
    ///     // Orders: the service excludes creating entities by Capabilities.InsertRestrictions of Orders; …
    ///
    /// It reports:
    /// - entity sets, properties, relations, types, enumeration members and parameters that the model doesn't have, with the nearest name;
    /// - values of another type than declared, null where a value is needed, and properties that a new entity lacks although they can't be
    ///   null and have no default;
    /// - properties that the service sets itself, or that can't be changed: `Core.Computed`, `Core.Immutable`, `Core.Permissions`, keys,
    ///   `sap:creatable`, `sap:updatable`, and `StoreGeneratedPattern` of versions 2 and 3;
    /// - changes that the service excludes by `InsertRestrictions`, `UpdateRestrictions`, `DeleteRestrictions`, `DeepInsertSupport` or
    ///   `DeepUpdateSupport` of the Capabilities vocabulary, or by `sap:creatable`, `sap:updatable` or `sap:deletable`;
    /// - changes without an entity tag where the service requires one: `Core.OptimisticConcurrency`, `ConcurrencyMode` of versions 2 and 3,
    ///   a required `If-Match`;
    /// - actions with parameters that are missing, unknown or of another type.
    ///
    /// It doesn't verify dynamic properties of open types, types that the model doesn't include, raw bytes, and resources that a batch's
    /// earlier part creates. The properties of a replacement, an upsert or a delta may be read-only, since services ignore these.
    ///
    /// - Parameters:
    ///   - model: The model of the service.
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - changes: Makes one change with the client, or sends one batch, all of whose changes are compared.
    /// - Returns: All differences; empty if there are none.
    /// - Throws: `ServiceError` if the closure only reads, or if the change can't be written; the closure's own errors.
    public func verify<Result>(
        against model: ServiceModel, isolation: isolated (any Actor)? = #isolation, _ changes: (Self) async throws -> Result
    ) async throws -> [ModelFault] {
        let list = FaultList(model)
        let captured = try await WriteCheckScope.$current.withValue(list) {
            try await EnclosedCall.of(self, changes)
        }
        guard captured.call == nil || list.hasChanges else {
            throw error(
                ODataOperation(route: captured.call?.identity.route ?? ""), .binding, .model,
                "The closure makes no change: verify a query with its own verify(against:).")
        }
        return list.faults
    }
}

extension ServiceError.Kind {
    /// A change doesn't fit the service's model; the cause is ``ModelFaults``.
    public static let model = Self(rawValue: "model")
}

/// Rejects changes that don't fit.
private struct ModelWriteCheck: WriteChecking {
    let verification: WriteVerification

    init(_ verification: WriteVerification) {
        self.verification = verification
    }

    func check(_ operation: WriteOperation, of client: ODataClient) throws {
        let faults = WriteVerifier.faults(in: operation, of: client, verification.model).filter {
            !verification.ignored.contains($0.kind)
        }
        guard !faults.isEmpty else { return }
        let cause = ModelFaults(subject: "The change of \(operation.query.resource.route)", faults: faults)
        throw client.error(ODataOperation(operation.query.resource), .binding, .model, cause.description, cause: cause)
    }
}

/// Collects the differences of several changes.
private final class FaultList: WriteChecking {
    private let model: ServiceModel
    private let found = Locked<(faults: [ModelFault], seen: Set<ModelFault>, hasChanges: Bool)>(([], [], false))

    init(_ model: ServiceModel) {
        self.model = model
    }

    var faults: [ModelFault] { found.withLock { $0.faults } }
    var hasChanges: Bool { found.withLock { $0.hasChanges } }

    func check(_ operation: WriteOperation, of client: ODataClient) throws {
        let faults = WriteVerifier.faults(in: operation, of: client, model)
        found.withLock { found in
            found.hasChanges = true
            for fault in faults where found.seen.insert(fault).inserted { found.faults.append(fault) }
        }
    }
}
