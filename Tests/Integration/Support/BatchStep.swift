import Foundation
import OData
import WebServiceClient

/// One read or write of items, which is performed as a part of a batch or by itself, and has an outcome as text in both cases.
enum BatchStep: Sendable {
    case read(Int64)
    case readWhole(Int64)
    case find(String)
    case count(String)
    case create(StoreItem, ReturnPreference?)
    case update(Int64, DynamicEntity, WriteCondition, ReturnPreference?)
    case replace(Int64, StoreItem, WriteCondition)
    case upsert(Int64, StoreItem, WriteCondition)
    case delete(Int64, WriteCondition)
    /// The change of an item that an earlier step creates or changes, by a reference to that step.
    case updateResult(of: Int, DynamicEntity, ReturnPreference?)

    var isRead: Bool {
        switch self {
        case .read, .readWhole, .find, .count: true
        default: false
        }
    }

    /// The request for items with a name.
    private static func items(named name: String) -> FetchRequest<StoreItem> { items.filter { $0.Name == name } }
    private static let items = FetchRequest<StoreItem>()

    // MARK: By itself

    /// Performs the step by itself.
    ///
    /// - Parameter keys: The keys of the items that earlier steps wrote.
    /// - Returns: The outcome, and the key of a written item.
    func run(by client: ODataClient, _ keys: [Int: Int64]) async throws -> (outcome: BatchOutcome, key: Int64?) {
        do {
            switch self {
            case .read(let key): return (.item(try await client.fetch(Self.items.key(key))), nil)
            case .readWhole(let key): return (.entity(try await client.entity(Self.items.key(key))), nil)
            case .find(let name): return (.page(try await client.page(Self.items(named: name).top(3).count())), nil)
            case .count(let name): return (.done("\(try await client.count(of: Self.items(named: name)))"), nil)
            case .delete(let key, let condition):
                try await client.delete(Self.items.key(key), if: condition)
                return (.done("deleted"), nil)
            default:
                let result = try await write(by: client, keys)
                return (.written(result), BatchOutcome.key(of: result))
            }
        } catch let error as ServiceError {
            return (try BatchOutcome(error), nil)
        }
    }

    private func write(by client: ODataClient, _ keys: [Int: Int64]) async throws -> WriteResult<StoreItem> {
        switch self {
        case .create(let item, let preference):
            return try await client.create(item, in: Self.items, preferring: preference)
        case .update(let key, let changes, let condition, let preference):
            return try await client.update(Self.items.key(key), setting: changes, if: condition, preferring: preference)
        case .replace(let key, let item, let condition):
            return try await client.replace(Self.items.key(key), with: item, if: condition)
        case .upsert(let key, let item, let condition):
            return try await client.upsert(Self.items.key(key), with: item, if: condition)
        case .updateResult(let step, let changes, let preference):
            guard let key = keys[step] else { throw NoError() }
            return try await client.update(Self.items.key(key), setting: changes, if: .none, preferring: preference)
        case .read, .readWhole, .find, .count, .delete:
            throw NoError()
        }
    }

    // MARK: In a batch

    /// A step that was added to a batch.
    struct Sent {
        /// Returns the outcome.
        let outcome: (ODataBatchAnswer) throws -> BatchOutcome
        var written: BatchPart<WriteResult<StoreItem>>?
    }

    /// Adds the step to a batch or to a group of one.
    func add(to batch: inout some BatchBuilding, after earlier: [Sent]) throws -> Sent {
        switch self {
        case .read(let key): return Self.sent(batch.fetch(Self.items.key(key))) { .item($0) }
        case .readWhole(let key): return Self.sent(batch.entity(Self.items.key(key))) { .entity($0) }
        case .find(let name): return Self.sent(batch.page(Self.items(named: name).top(3).count())) { .page($0) }
        case .count(let name): return Self.sent(batch.count(of: Self.items(named: name))) { .done("\($0)") }
        case .delete(let key, let condition):
            return Self.sent(batch.delete(Self.items.key(key), if: condition)) { _ in .done("deleted") }
        case .create(let item, let preference):
            return Self.writing(batch.create(item, in: Self.items, preferring: preference))
        case .update(let key, let changes, let condition, let preference):
            return Self.writing(batch.update(Self.items.key(key), setting: changes, if: condition, preferring: preference))
        case .replace(let key, let item, let condition):
            return Self.writing(batch.replace(Self.items.key(key), with: item, if: condition))
        case .upsert(let key, let item, let condition):
            return Self.writing(batch.upsert(Self.items.key(key), with: item, if: condition))
        case .updateResult(let step, let changes, let preference):
            guard earlier.indices.contains(step), let part = earlier[step].written else { throw NoError() }
            return Self.writing(batch.update(part.reference, setting: changes, if: .none, preferring: preference))
        }
    }

    private static func sent<Value>(_ part: BatchPart<Value>, _ text: @escaping (Value) -> BatchOutcome) -> Sent {
        Sent { answer in
            switch answer.result(of: part) {
            case .success(let value): text(value)
            case .failure(let error): try BatchOutcome(error)
            }
        }
    }

    private static func writing(_ part: BatchPart<WriteResult<StoreItem>>) -> Sent {
        var sent = sent(part) { .written($0) }
        sent.written = part
        return sent
    }
}

/// The result of a step.
enum BatchOutcome: Equatable {
    /// The value as text, without the service's root.
    case done(String)
    /// The status of the step's own error.
    case failed(Int)
    /// Another step of the group failed, with this status.
    case groupFailed(Int)
    /// An earlier step failed, and the service stops at the first failure.
    case notProcessed
    /// It isn't known whether the step was performed.
    case unknown

    var isFailure: Bool { if case .done = self { false } else { true } }

    /// - Throws: The error, if it is neither the service's answer nor one of a batch.
    init(_ error: ServiceError) throws {
        switch error.cause as? ODataBatchError {
        case .groupFailed(let cause)?:
            guard let status = cause.status else { throw error }
            // If a step of a group depends on one that failed, the statuses don't tell which of the group it was.
            self = status == 424 ? .failed(424) : .groupFailed(status)
        case .dependencyFailed?: self = .failed(424)
        case .notProcessed?: self = .notProcessed
        case .unanswered?, .malformed?: self = .unknown
        case .unwritable?, .foreignPart?: throw error
        case nil:
            guard error.stage == .status, let status = error.status else { throw error }
            self = .failed(status)
        }
    }

    static func item(_ item: StoreItem) -> BatchOutcome { .done(text(item)) }

    static func entity(_ entity: ODataEntity<StoreItem>) -> BatchOutcome {
        .done("\(text(entity.value)) \(entity.metadata.etag ?? "-")")
    }

    static func page(_ page: ODataPage<StoreItem>) -> BatchOutcome {
        .done("\(page.count ?? -1): " + page.entities.map(text).joined(separator: ", "))
    }

    static func written(_ result: WriteResult<StoreItem>) -> BatchOutcome {
        let places = [result.location?.absoluteString, result.entityID].map { place(of: $0) ?? "-" }
        let item = result.entity.map { text($0.value) } ?? "-"
        return .done("\(result.status ?? 0) \(item) \(result.etag ?? "-") \(places.joined(separator: " "))")
    }

    /// Returns the key of a written item.
    static func key(of result: WriteResult<StoreItem>) -> Int64? {
        let place = result.entityID ?? result.location?.absoluteString
        return result.entity?.value.Key ?? self.place(of: place).flatMap { Int64($0.dropFirst(6).dropLast()) }
    }

    private static func place(of url: String?) -> String? {
        url.flatMap { url in url.range(of: "Items(", options: .backwards).map { String(url[$0.lowerBound...]) } }
    }

    /// All values with their digits: equal decimals may differ in them.
    private static func text(_ item: StoreItem) -> String {
        let number = [item.Key, item.Count].map { $0.map { "\($0)" } ?? "-" }
        return "\(number[0])|\(item.Name.map { "'\($0)'" } ?? "-")|\(number[1])|\(item.Price?.description ?? "-")"
    }
}
