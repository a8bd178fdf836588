import WebServiceClient

/// The envelope around a payload's value.
enum PayloadRoot {
    /// Returns an error that replaces a value or follows an incomplete one.
    static func error(in root: ODataValue) -> ODataErrorBody? {
        guard case .object(let object) = root else { return nil }
        guard let error = ODataErrorBody(in: object) else { return nil }
        // An entity may have a property named `error`, but a page may not.
        let others = object.properties.filter { !ODataErrorBody.names.contains($0.name) && ControlInformation.name($0.name) == nil }
        return others.allSatisfy { $0.name == "value" && $0.value.array != nil } ? error : nil
    }

    /// Returns the value inside V2's `d`, and a primitive value inside `value` or the only property. In V2, also unwraps complex values,
    /// entities and collections of a function's result. A null result is decoded as null.
    static func inside(_ payload: PayloadDecoder, for type: any Any.Type) -> PayloadDecoder {
        var payload = payload
        var isVersion2 = false
        let wrapped = unwrapped(type)
        let isPrimitive = isPrimitive(wrapped)
        if let object = payload.value.object, isNull(object) { return payload.child(.null, JSONKey("@odata.null")) }
        if let object = payload.value.object, object.properties.count == 1, let data = object["d"],
            data.object != nil || data.array != nil || data.isNull && (isPrimitive || !decodes("d", of: payload, by: wrapped))
        {
            payload = payload.child(data, JSONKey("d"))
            isVersion2 = true
        }
        guard let object = payload.value.object else { return payload }
        let named = object.properties.filter {
            !$0.name.utf8.contains(UInt8(ascii: "@")) && ControlInformation.name($0.name) == nil && $0.name != "__metadata"
        }
        if isPrimitive {
            if let value = object["value"] { return payload.child(value, JSONKey("value")) }
            return named.count == 1 ? payload.child(named[0].value, JSONKey(named[0].name)) : payload
        }
        guard named.count == 1, let only = named.first else { return payload }
        if only.value.isNull, only.name == "value" || isVersion2 && only.name == "results" {
            return standsForResult(nullIn: payload, only.name, for: type) ? payload.child(.null, JSONKey(only.name)) : payload
        }
        guard isVersion2, object.properties.count == 1, !["results", "__deferred"].contains(only.name) else { return payload }
        let isResult =
            switch only.value {
            case .object(let object): PayloadDecoder.deferredLink(object) == nil
            case .array: wrapped is any Sequence.Type
            default: only.value.isNull
            }
        return isResult && !decodes(only.name, of: payload, by: wrapped) ? payload.child(only.value, JSONKey(only.name)) : payload
    }

    /// Returns whether an object represents null (OData 3.0 JSON, and Microsoft's services in version 4): `{"@odata.null":true}` in any
    /// version's spelling, or only the context.
    private static func isNull(_ object: DynamicEntity) -> Bool {
        guard object.properties.count <= 8, object.properties.allSatisfy({ ControlInformation.name($0.name) != nil }) else { return false }
        if let mark = ControlInformation(entity: object)["null"] { return mark == .boolean(true) || mark.string == "true" }
        return PageShape.context(of: object)?.hasSuffix("#Edm.Null") ?? false
    }

    /// Returns whether a null member represents the result instead of a property.
    private static func standsForResult(nullIn payload: PayloadDecoder, _ name: String, for type: any Any.Type) -> Bool {
        let wrapped = unwrapped(type)
        guard decodes(name, of: payload, by: wrapped) else { return true }
        // A type that accepts any property may be an entity with this one, unless the context shows otherwise.
        let isOfAnything = wrapped == DynamicEntity.self || wrapped == ODataEntity<DynamicEntity>.self
        return isOfAnything && wrapped != type && !(PageShape.context(of: payload.value)?.hasSuffix("$entity") ?? false)
    }

    /// Returns the type inside any number of optionals.
    private static func unwrapped(_ type: any Any.Type) -> any Any.Type {
        var type = type
        while let optional = type as? any OptionalPayload.Type { type = optional.wrappedType }
        return type
    }

    /// Returns whether the type's values are primitive, without properties.
    private static func isPrimitive(_ type: any Any.Type) -> Bool {
        if type == DynamicEntity.self || type == ODataValue.self || type is any DescribedEntity.Type { return false }
        if type is any PayloadReadable.Type || type is any PrimitivePayload.Type { return true }
        func isRawPrimitive<Raw: RawRepresentable>(_: Raw.Type) -> Bool { Raw.RawValue.self is any PayloadReadable.Type }
        return (type as? any RawRepresentable.Type).map { isRawPrimitive($0) } ?? false
    }

    /// Returns whether a type decodes a property by name, so that the member is a property.
    private static func decodes(_ name: String, of payload: PayloadDecoder, by type: any Any.Type) -> Bool {
        let type = (type as? any EntityEnvelope.Type)?.entityType ?? type
        if let described = type as? any DescribedEntity.Type { return described.declares(name) }
        if let names = PropertyCatalog.of(type).decodedNames { return names.contains(name) }
        // A type that decodes any value accepts all properties.
        guard !(type is any PayloadReadable.Type), let decodable = type as? any Decodable.Type else { return true }
        let recorder = NameRecorder()
        var trial = PayloadDecoder(payload.value, settings: PayloadSettings(trialOf: payload.settings))
        trial.recorder = recorder
        _ = try? trial.decode(decodable)
        return recorder.names.contains(name)
    }
}

/// A type of this library with primitive values and its own decoding.
protocol PrimitivePayload {}

extension EdmBinary: PrimitivePayload {}
extension EdmDate: PrimitivePayload {}
extension EdmDateTimeOffset: PrimitivePayload {}
extension EdmDuration: PrimitivePayload {}
extension EdmFlags: PrimitivePayload {}
extension EdmSpatial: PrimitivePayload {}
extension EdmTimeOfDay: PrimitivePayload {}
extension OpenEnumeration: PrimitivePayload {}

/// Provides the type of the entity in an envelope with metadata.
private protocol EntityEnvelope {
    static var entityType: any Any.Type { get }
}

extension ODataEntity: EntityEnvelope {
    fileprivate static var entityType: any Any.Type { Entity.self }
}

/// Provides the wrapped type of an optional.
private protocol OptionalPayload {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalPayload {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}
