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
        if let object = payload.value.object, object.count == 1, let data = object["d"],
            data.object != nil || data.array != nil || data.isNull && (isPrimitive || !decodes("d", of: payload, by: wrapped))
        {
            payload = payload.child(data, JSONKey("d"))
            isVersion2 = true
        }
        guard let object = payload.value.object else { return payload }
        let named = properties(of: object)
        if isPrimitive {
            if let value = object["value"] { return payload.child(value, JSONKey("value")) }
            return named.count == 1 ? payload.child(named[0].value, JSONKey(named[0].name)) : payload
        }
        guard named.count == 1, let only = named.first else { return payload }
        if only.value.isNull, only.name == "value" || isVersion2 && only.name == "results" {
            return standsForResult(nullIn: payload, only.name, for: type) ? payload.child(.null, JSONKey(only.name)) : payload
        }
        guard isVersion2, object.count == 1, !["results", "__deferred"].contains(only.name) else { return payload }
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
        guard object.count <= 8, object.names.allSatisfy({ ControlInformation.name($0) != nil }) else { return false }
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
        return decodedNames(of: payload, by: type)?.contains(name) ?? true
    }

    /// Returns the names of the properties that a type decodes; `nil` for a type that accepts any.
    private static func decodedNames(of payload: PayloadDecoder, by type: any Any.Type) -> Set<String>? {
        let catalog = PropertyCatalog.of(type)
        if catalog.stated == .all { return nil }
        if catalog.decodedNames != nil { return catalog.decoded.set }
        // A type that decodes any value accepts all properties.
        guard !(type is any PayloadReadable.Type), let decodable = type as? any Decodable.Type else { return nil }
        let recorder = NameRecorder()
        var trial = PayloadDecoder(payload.value, settings: PayloadSettings(trialOf: payload.settings))
        trial.recorder = recorder
        _ = try? trial.decode(decodable)
        return recorder.names
    }

    // MARK: Other shapes than the type's

    /// Returns the only value in a payload that a type refused because it isn't an object: a type with its own decoding may read a text, a
    /// number or an array. `nil` if the type refused the payload for another reason.
    static func onlyValue(in payload: PayloadDecoder, refusedFor error: any Error) -> PayloadDecoder? {
        guard isOfKind(error, at: payload), let object = payload.value.object else { return nil }
        let named = properties(of: object)
        guard named.count == 1, let only = named.first, only.value.object == nil, !only.value.isNull else { return nil }
        return payload.child(only.value, JSONKey(only.name))
    }

    /// Returns whether a type refused a value for its kind, such as an object where it reads a text.
    static func isOfKind(_ error: any Error, at payload: PayloadDecoder) -> Bool {
        guard case .typeMismatch(_, let context) = error as? DecodingError else { return false }
        return context.codingPath.count == payload.codingPath.count
    }

    /// Returns an error if the payload is a collection and the type is one of a single object without a property of that name: a type whose
    /// properties are all optional would otherwise be read without any of them.
    static func collectionFault(_ payload: PayloadDecoder, for type: any Any.Type) -> DecodingError? {
        guard let object = payload.value.object else { return nil }
        let named = properties(of: object).filter { !$0.name.hasPrefix("__") }
        guard named.count == 1, let only = named.first, ["value", "results"].contains(only.name), only.value.array != nil,
            !(PageShape.context(of: payload.value)?.hasSuffix("$entity") ?? false)
        else { return nil }
        let wrapped = unwrapped(type)
        let entity = (wrapped as? any EntityEnvelope.Type)?.entityType ?? wrapped
        let isOfOne: Bool
        if let described = entity as? any DescribedEntity.Type {
            isOfOne = described.isInModel && !described.declares(only.name)
        } else if entity is any Sequence.Type || isPrimitive(entity) {
            isOfOne = false
        } else {
            isOfOne = decodedNames(of: payload, by: entity).map { !$0.isEmpty && !$0.contains(only.name) } ?? false
        }
        guard isOfOne else { return nil }
        return payload.corrupted(
            "The payload is a collection ('\(only.name)'), and \(entity) is one value: read an array or a page, or request one entity by "
                + "its key.")
    }

    /// Returns the members of an object that aren't control information.
    private static func properties(of object: DynamicEntity) -> [DynamicEntity.Property] {
        object.properties.filter {
            !$0.name.utf8.contains(UInt8(ascii: "@")) && ControlInformation.name($0.name) == nil && $0.name != "__metadata"
        }
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
