public import Foundation
import WebServiceClient

// Single properties and raw values (Protocol, section 11.4.9).
extension ODataClient {
    /// Writes one property of an entity; `nil` makes it null.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func set<Entity, Value: Encodable & Sendable>(
        _ property: KeyPath<Entity, Value>, of request: EntityRequest<Entity>, to value: Value, if condition: WriteCondition = .none
    ) async throws {
        let resource = request.following(property)
        var operation = WriteOperation(.put, resource, aliasesOf: request.options)
        let payload = try payload(resource) { try ODataEncoder(payloadFormat, types: types).payload(of: value) }
        if payload.isNull, printer.version != .v2 {
            operation.method = .delete
        } else if printer.version == .v2, case .name(let name)? = resource.segments.last {
            operation.body = .object(DynamicEntity([.init(name, payload)]))
        } else {
            operation.body = .object(["value": payload])
        }
        operation.condition = condition
        try await send(operation)
    }

    /// Writes the bytes of a property, or of an entity's media, as they are: `/$value`, or a stream property.
    ///
    /// - Parameters:
    ///   - resource: the property, or the entity's `/$value`.
    ///   - contentType: the bytes' media type.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setRawValue(
        at resource: ResourcePath, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        var operation = WriteOperation(.put, resource)
        operation.bytes = (data, contentType)
        operation.condition = condition
        try await send(operation)
    }
}

extension EntityRequest {
    /// The path of a property.
    func following(_ property: PartialKeyPath<Entity>) -> ResourcePath {
        var path = resource
        for segment in PropertyCatalog.segments(of: property, in: Entity.self) {
            switch segment {
            case .property(let name): path.segments.append(.name(name))
            case .unresolved(let error): path.segments.append(.invalid(error))
            default: continue
            }
        }
        return path
    }
}
