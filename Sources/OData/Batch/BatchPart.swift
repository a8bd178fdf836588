public import WebServiceClient

/// A request in a batch: the handle with which the program reads the request's result from the batch's answer.
///
///     var batch = ODataBatch()
///     let user = batch.fetch(FetchRequest<User>().key("ada"))
///     let answer = try await client.send(batch)
///     print(try answer[user].name)
public struct BatchPart<Value: Sendable>: Sendable, Hashable {
    /// A number that is unique in the process.
    let token: UInt64
}

/// The result of a request that creates or changes an entity, to which later requests of the batch can refer.
public protocol BatchEntityResult: Sendable {
    /// The type of the entity.
    associatedtype ReferencedEntity: Decodable & Sendable
}

extension WriteResult: BatchEntityResult {
    /// The type of the written entity.
    public typealias ReferencedEntity = Entity
}

extension BatchPart where Value: BatchEntityResult {
    /// The entity that the part creates or changes, for later requests of the same batch: `$1` (Protocol 4.01, section 11.7.3.1).
    ///
    ///     let order = group.create(draft, in: FetchRequest<Order>())
    ///     group.create(line, in: order.reference.navigate(\.items))              // POST $1/Items
    ///
    /// The later request depends on this part. In multipart batches, the specification supports it only within one change set.
    public var reference: EntityRequest<Value.ReferencedEntity> { reference(as: Value.ReferencedEntity.self) }
}

extension BatchPart {
    /// Returns the entity that the part creates or reads, for later requests of the same batch. See ``reference``.
    public func reference<Entity>(as type: Entity.Type) -> EntityRequest<Entity> {
        EntityRequest(at: BatchScope.text(of: token))
    }
}

extension EntityReference {
    /// Creates a reference to the entity that an earlier part of the same batch creates or reads, written as `$1`.
    ///
    /// Services need to support references in bodies: Dataverse does; otherwise see `BatchSupport` in the service's metadata.
    public init<Value>(_ part: BatchPart<Value>) {
        self.init(id: BatchScope.text(of: part.token))
    }
}

/// The results of a batch, each its own value or its own error.
public struct ODataBatchAnswer: Sendable {
    /// The results by token. A value is a ``BatchValue`` of the part's type.
    let results: [UInt64: Result<any Sendable, ServiceError>]
    /// The tokens in the order of the batch.
    let order: [UInt64]

    /// The errors of the parts that failed, in the order of the batch.
    public var failures: [ServiceError] {
        order.compactMap { token in
            guard case .failure(let error)? = results[token] else { return nil }
            return error
        }
    }

    /// Returns the value of a part.
    ///
    /// - Throws: `ServiceError`: the service's answer to the part, or an error of the kind ``/WebServiceClient/ServiceError/Kind/batch``
    ///   with ``ODataBatchError`` as its cause, if there is none.
    public subscript<Value>(part: BatchPart<Value>) -> Value {
        get throws { try result(of: part).get() }
    }

    /// Returns the value or the error of a part.
    public func result<Value>(of part: BatchPart<Value>) -> Result<Value, ServiceError> {
        switch results[part.token] {
        case .failure(let error)?:
            return .failure(error)
        case .success(let value as BatchValue<Value>)?:
            return .success(value.value)
        case .success?, nil:
            let cause = ODataBatchError.foreignPart
            let identity = CallIdentity(client: "ODataClient", key: "$batch", route: "$batch")
            return .failure(ServiceError(call: identity, stage: .binding, kind: .batch, message: cause.description, cause: cause))
        }
    }
}

/// A part's value. A wrapper, because a plain optional loses its type in `any Sendable`.
struct BatchValue<Value: Sendable>: Sendable {
    let value: Value
}

/// The reason why a part of a batch has no separate answer.
///
/// Except for ``notProcessed``, ``groupFailed(_:)`` and ``dependencyFailed``, it is unknown whether the service performed the request: read
/// the entities again before you repeat a change.
public enum ODataBatchError: DescribedError, Sendable {
    /// A request of the same group failed, so the service performed no request of the group. The error is that request's if the service
    /// identified it, otherwise the group's, which may be about any of its requests. The part's error has the same error body.
    case groupFailed(ServiceError)
    /// A request that this one depends on failed (424, Failed Dependency), so this one wasn't tried.
    case dependencyFailed
    /// The service stopped after an error of an earlier request, or the batch with this request wasn't sent because an earlier one failed.
    case notProcessed
    /// The service's answer doesn't contain this request.
    case unanswered(String)
    /// The service's answer to this request can't be read.
    case malformed(String)
    /// The part can't be written into a batch.
    case unwritable(String)
    /// The part belongs to another batch.
    case foreignPart

    /// A sentence for people.
    public var description: String {
        switch self {
        case .groupFailed(let error):
            "No request of the group was performed, because one failed: \(error.message)"
        case .dependencyFailed:
            "The request wasn't tried, because one that it depends on failed (424): see the error of that one."
        case .notProcessed:
            "The request wasn't processed: the service stopped after an earlier error, or an earlier batch failed."
        case .unanswered(let reason):
            "The batch has no answer to this request, so it is unknown whether it was performed: \(reason)"
        case .malformed(let reason):
            "The service's answer to this request can't be read, so it is unknown whether it was performed: \(reason)"
        case .unwritable(let reason):
            "The request can't be part of a batch: \(reason)"
        case .foreignPart:
            "The part belongs to another batch: read its result from that batch's answer."
        }
    }
}

extension ServiceError.Kind {
    /// A part of a batch has no separate answer; the cause is ``ODataBatchError``.
    public static let batch = Self(rawValue: "batch")
}
