public import Foundation
import WebServiceClient

// Single properties and raw values (Protocol, section 11.4.9).
extension ODataClient {
    /// Writes one property of an entity; `nil` makes it null. A complex property is replaced as a whole (Protocol, section 11.4.9.3).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func set<Entity, Value: Encodable & Sendable>(
        _ property: KeyPath<Entity, Value>, of request: EntityRequest<Entity>, to value: Value, if condition: WriteCondition = .none
    ) async throws {
        let resource = request.resource.following(property, of: Entity.self)
        var operation = try operation(.put, resource, for: request.options)
        let payload = try payload(resource) { try encoder.payload(of: value) }
        if payload.isNull, printer.version != .v2 {
            operation.method = .delete
        } else if printer.version == .v2, case .name(let name)? = resource.segments.last {
            operation.body = .object(DynamicEntity([.init(name, payload)]))
        } else if case .object(let members) = payload, !members.isGeographic {
            // Only primitives, which GeoJSON is, and collections stand under a name (JSON Format, section 11).
            operation.body = payload
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
    ///
    /// Whatever the service answers with is accepted (`Accept: */*`).
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func setRawValue(
        at resource: ResourcePath, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        try await setRawValue(at: ODataQuery(resource), to: data, contentType: contentType, if: condition)
    }

    /// The same by a query, which has what the path's aliases stand for, and custom options.
    public func setRawValue(
        at resource: ODataQuery, to data: Data, contentType: String, if condition: WriteCondition = .none
    ) async throws {
        var operation = try operation(.put, resource.resource, for: resource.options)
        operation.bytes = (data, contentType)
        operation.condition = condition
        try await send(operation)
    }
}
