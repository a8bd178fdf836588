import WebServiceClient

extension DynamicEntity {
    /// Returns the properties that a type doesn't decode or, if that isn't known, those that its decoding doesn't request.
    func undeclared<Value: Decodable>(by type: Value.Type, _ decoder: any Decoder) -> DynamicEntity {
        let settings = PayloadDecoder.settings(of: decoder)
        // Trial results are discarded. Without this check, each nested level would be decoded twice as often as its parent.
        if settings?.isTrial == true { return DynamicEntity() }
        let declared = declaredNames(of: type, settings)
        return DynamicEntity(
            properties.filter { property in
                !property.name.contains("@") && !property.name.hasPrefix("#") && property.name != "__metadata"
                    && !property.name.hasPrefix("odata.") && !declared.contains(property.name)
                    // The metadata contain the link of a relation that wasn't expanded.
                    && property.value.object.flatMap(PayloadDecoder.deferredLink) == nil
            })
    }

    func undeclared(beside value: some Decodable, _ decoder: any Decoder) -> DynamicEntity {
        undeclared(by: Swift.type(of: value), decoder)
    }

    private func declaredNames<Value: Decodable>(of type: Value.Type, _ settings: PayloadSettings?) -> Set<String> {
        if let names = PropertyCatalog.of(type).decodedNames { return Set(names) }
        // A type that decodes any value accepts all properties.
        if type is any PayloadReadable.Type { return Set(properties.map(\.name)) }
        let recorder = NameRecorder()
        let trial = PayloadSettings(trialOf: settings ?? PayloadSettings())
        var payload = PayloadDecoder(.object(self), settings: trial)
        payload.recorder = recorder
        // The value was already decoded. If this trial fails in another decoder's custom handling, the names recorded so far are used.
        _ = try? payload.decode(type)
        return recorder.names
    }

    /// Encodes undeclared properties after the value, except for those that the value itself writes or omits as `nil`.
    ///
    /// - Parameter types: the properties' types that the service sent, which are written again.
    func encode(behind value: any Encodable, types: [String: String], to encoder: any Encoder) throws {
        guard !properties.isEmpty else { return }
        let payload = encoder as? PayloadEncoder
        // Other encoders can't report which names were written.
        let settings = PayloadEncoder.Settings(PayloadFormat(), isDraft: true, userInfo: encoder.userInfo)
        let node = payload?.node ?? (try? PayloadEncoder.node(of: value, settings))
        let names = node?.mentionedNames ?? []
        var container = encoder.container(keyedBy: JSONKey.self)
        for property in properties where !names.contains(property.name) {
            if let format = payload?.settings.format, let type = format.typeAnnotation(of: property, types) {
                try container.encode(type.value, forKey: JSONKey(type.name))
            }
            try container.encode(property.value, forKey: JSONKey(property.name))
        }
    }
}

extension PayloadFormat {
    /// Returns the type annotation of an undeclared property, or `nil` if the service sent no type or the value is null.
    func typeAnnotation(of property: DynamicEntity.Property, _ types: [String: String]) -> DynamicEntity.Property? {
        guard version != .v2, !property.value.isNull, let type = types[property.name] else { return nil }
        return DynamicEntity.Property(property.name + controlName("type"), .string(typeReference(type)))
    }
}

extension PayloadNode {
    /// The names of the written members and of those omitted as `nil`.
    var mentionedNames: Set<String> {
        takeApart()
        guard case .object(let members) = content else { return [] }
        return Set(members.map(\.name)).union(leftOut)
    }
}
