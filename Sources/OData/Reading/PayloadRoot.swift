import WebServiceClient

/// What stands around a payload's value.
enum PayloadRoot {
    /// An error in place of a value, or behind what was written before it happened.
    static func error(in root: ODataValue) -> ODataErrorBody? {
        guard case .object(let object) = root else { return nil }
        guard let error = ODataErrorBody(in: object) else { return nil }
        // A property of an entity may be called `error`; a page has none.
        let others = object.properties.filter { !ODataErrorBody.names.contains($0.name) && ControlInformation.name($0.name) == nil }
        return others.allSatisfy { $0.name == "value" && $0.value.array != nil } ? error : nil
    }

    /// The value inside V2's `d`, and inside the `value` or the one property that primitive values come in; in V2, complex values and
    /// entities that a function gives, too.
    static func inside(_ payload: PayloadDecoder, for type: any Any.Type) -> PayloadDecoder {
        var payload = payload
        var isVersion2 = false
        if let object = payload.value.object, object.properties.count == 1, let data = object["d"],
            data.object ?? nil != nil || data.array != nil
        {
            payload = payload.child(data, JSONKey("d"))
            isVersion2 = true
        }
        guard let object = payload.value.object else { return payload }
        let wrapped = (type as? any OptionalPayload.Type)?.wrappedType ?? type
        if isPrimitive(wrapped) {
            let named = object.properties.filter { ControlInformation.name($0.name) == nil && $0.name != "__metadata" }
            if let value = object["value"] { return payload.child(value, JSONKey("value")) }
            return named.count == 1 ? payload.child(named[0].value, JSONKey(named[0].name)) : payload
        }
        guard isVersion2, object.properties.count == 1, let only = object.properties.first,
            !["__metadata", "results", "__deferred"].contains(only.name), ControlInformation.name(only.name) == nil
        else { return payload }
        let isResult = only.value.object.map { PayloadDecoder.deferredLink($0) == nil } ?? (only.value.isNull && wrapped != type)
        return isResult && !decodes(only.name, of: payload, by: wrapped) ? payload.child(only.value, JSONKey(only.name)) : payload
    }

    /// Whether the type's values are primitive: they have no properties of their own.
    private static func isPrimitive(_ type: any Any.Type) -> Bool {
        if type == DynamicEntity.self || type == ODataValue.self { return false }
        if type is any PayloadReadable.Type || type is any PrimitivePayload.Type { return true }
        func isRawPrimitive<Raw: RawRepresentable>(_: Raw.Type) -> Bool { Raw.RawValue.self is any PayloadReadable.Type }
        return (type as? any RawRepresentable.Type).map { isRawPrimitive($0) } ?? false
    }

    /// Whether a type decodes the property of a name, so that it stands for itself.
    private static func decodes(_ name: String, of payload: PayloadDecoder, by type: any Any.Type) -> Bool {
        let type = (type as? any EntityEnvelope.Type)?.entityType ?? type
        if let names = PropertyCatalog.of(type).decodedNames { return names.contains(name) }
        // What holds any value holds all properties.
        guard !(type is any PayloadReadable.Type), let decodable = type as? any Decodable.Type else { return true }
        let recorder = NameRecorder()
        var trial = PayloadDecoder(payload.value, settings: PayloadSettings(trialOf: payload.settings))
        trial.recorder = recorder
        _ = try? trial.decode(decodable)
        return recorder.names.contains(name)
    }
}

/// Types of this library whose values are primitive, and that decode themselves.
protocol PrimitivePayload {}

extension EdmBinary: PrimitivePayload {}
extension EdmDate: PrimitivePayload {}
extension EdmDateTimeOffset: PrimitivePayload {}
extension EdmDuration: PrimitivePayload {}
extension EdmFlags: PrimitivePayload {}
extension EdmSpatial: PrimitivePayload {}
extension EdmTimeOfDay: PrimitivePayload {}
extension OpenEnumeration: PrimitivePayload {}

/// Tells what stands in an entity with its metadata.
private protocol EntityEnvelope {
    static var entityType: any Any.Type { get }
}

extension ODataEntity: EntityEnvelope {
    fileprivate static var entityType: any Any.Type { Entity.self }
}

/// Tells what an optional may hold.
private protocol OptionalPayload {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalPayload {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}
