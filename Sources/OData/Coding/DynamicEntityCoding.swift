import WebServiceClient

extension DynamicEntity {
    /// Returns the properties that a type doesn't decode or, if that isn't known, those that its decoding doesn't request.
    func undeclared<Value: Decodable>(by type: Value.Type, _ decoder: any Decoder) -> DynamicEntity {
        let settings = PayloadDecoder.settings(of: decoder)
        // Trial results are discarded. Without this check, each nested level would be decoded twice as often as its parent.
        if settings?.isTrial == true { return DynamicEntity() }
        return undeclared(besides: declaredNames(of: type, settings))
    }

    /// Returns the properties that aren't among those that a type declares.
    func undeclared(besides declared: Set<String>) -> DynamicEntity {
        DynamicEntity(
            properties.filter { property in
                ControlInformation.isProperty(property.name) && !declared.contains(property.name)
                    // The metadata contain the link of a relation that wasn't expanded.
                    && property.value.object.flatMap(PayloadDecoder.deferredLink) == nil
            })
    }

    func undeclared(beside value: some Decodable, _ decoder: any Decoder) -> DynamicEntity {
        undeclared(by: Swift.type(of: value), decoder)
    }

    private func declaredNames<Value: Decodable>(of type: Value.Type, _ settings: PayloadSettings?) -> Set<String> {
        let catalog = PropertyCatalog.of(type)
        if catalog.decodedNames != nil { return catalog.decoded.set }
        // A type that decodes any value accepts all properties.
        if catalog.stated == .all || type is any PayloadReadable.Type { return Set(properties.map(\.name)) }
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
    /// - Parameter types: The properties' types that the service sent, which are written again.
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

extension PayloadDecoder {
    /// Decodes a value, and returns the names that it declares or, if these aren't known, requests; `nil` if it keeps all properties, or if
    /// the result is discarded.
    func decodeDeclared<Value: Decodable>(_ type: Value.Type) throws -> (value: Value, names: Set<String>?) {
        let catalog = PropertyCatalog.of(type)
        if settings.isTrial || catalog.stated == .all || type is any PayloadReadable.Type { return (try decode(type), nil) }
        if catalog.decodedNames != nil { return (try decode(type), catalog.decoded.set) }
        var noting = self
        let recorder = recorder ?? NameRecorder()
        noting.recorder = recorder
        return (try noting.decode(type), recorder.names)
    }
}

extension PayloadSettings {
    /// Returns an entity without the properties that its type decodes, except for relations for which version 2 sends only a link.
    ///
    /// - Throws: The errors of ``ODataValue/init(_:_:)``.
    func rest(of object: JSONNode, besides declared: Set<String>) throws -> DynamicEntity {
        var rest = DynamicEntity()
        let names = names(of: object)
        var position = 0
        try object.forEachValue { value in
            defer { position += 1 }
            let name = names[position]
            let isLink = value.isObject && value.count == 1 && value.member("__deferred") != nil
            guard isLink || !declared.contains(name) || !ControlInformation.isProperty(name) else { return }
            rest[name] = try tree(value)
        }
        return rest
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
