import WebServiceClient

extension DynamicEntity {
    /// The properties that a value doesn't hold which was decoded from these: those that its type doesn't decode, where that is known, else
    /// those that its decoding doesn't ask for.
    func undeclared<Value: Decodable>(by type: Value.Type, _ decoder: any Decoder) -> DynamicEntity {
        let settings = PayloadDecoder.settings(of: decoder)
        // What is decoded only to see what it asks for isn't kept: without this each level would be decoded twice as often as the one above.
        if settings?.isTrial == true { return DynamicEntity() }
        let declared = declaredNames(of: type, settings)
        return DynamicEntity(
            properties.filter { property in
                !property.name.contains("@") && !property.name.hasPrefix("#") && property.name != "__metadata"
                    && !property.name.hasPrefix("odata.") && !declared.contains(property.name)
                    // A relation that wasn't expanded: the metadata have its link.
                    && property.value.object.flatMap(PayloadDecoder.deferredLink) == nil
            })
    }

    func undeclared(beside value: some Decodable, _ decoder: any Decoder) -> DynamicEntity {
        undeclared(by: Swift.type(of: value), decoder)
    }

    private func declaredNames<Value: Decodable>(of type: Value.Type, _ settings: PayloadSettings?) -> Set<String> {
        if let names = PropertyCatalog.of(type).decodedNames { return Set(names) }
        // What holds any value holds all properties.
        if type is any PayloadReadable.Type { return Set(properties.map(\.name)) }
        let recorder = NameRecorder()
        let trial = PayloadSettings(trialOf: settings ?? PayloadSettings())
        var payload = PayloadDecoder(.object(self), settings: trial)
        payload.recorder = recorder
        // It was decoded once; where other decoders' ways are needed for that, what was asked for until then is all that is known.
        _ = try? payload.decode(type)
        return recorder.names
    }

    /// Writes undeclared properties behind the value whose entity has them. What the value itself writes, or leaves out as it is `nil`, counts.
    ///
    /// - Parameter types: the properties' types as the service said them, which are written again.
    func encode(behind value: any Encodable, types: [String: String], to encoder: any Encoder) throws {
        guard !properties.isEmpty else { return }
        let payload = encoder as? PayloadEncoder
        // Other encoders don't tell what was written.
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
    /// What says the type of an undeclared property, as the service said it; `nil` where it didn't, or there is nothing to say it of.
    func typeAnnotation(of property: DynamicEntity.Property, _ types: [String: String]) -> DynamicEntity.Property? {
        guard version != .v2, !property.value.isNull, let type = types[property.name] else { return nil }
        return DynamicEntity.Property(property.name + controlName("type"), .string(typeReference(type)))
    }
}

extension PayloadNode {
    /// The members that there are, and those that were left out since they are `nil`.
    var mentionedNames: Set<String> {
        takeApart()
        guard case .object(let members) = content else { return [] }
        return Set(members.map(\.name)).union(leftOut)
    }
}
