import WebServiceClient

extension ODataItem: Codable {
    /// Decodes an object, and checks the properties that the model declares.
    ///
    /// - Throws: `DecodingError` if a declared property is of another kind than in the model.
    public init(from decoder: any Decoder) throws {
        if let sample = decoder as? ProbeDecoder {
            // A probe decodes a sample; the model already describes the properties.
            _ = try sample.container(keyedBy: JSONKey.self).allKeys
            self.init()
        } else if let payload = try PayloadDecoder.of(decoder) {
            self = try Self.read(payload)
        } else {
            let record = try DynamicEntity(from: decoder)
            var check = ItemCheck(Model.schema)
            if ItemSetting.checks(decoder.userInfo), let fault = check.fault(in: record, declaredAs: Model.typeName) {
                throw fault.error(inside: decoder.codingPath)
            }
            self.init(unchecked: record)
        }
    }

    /// Encodes the object.
    ///
    /// ``ODataEncoder`` writes the payload for a service: values in the spelling of the version, the type if it is known, and no other
    /// control information. Other encoders write the whole object, so that decoding results in an equal item.
    ///
    /// - Throws: `EncodingError` if the version has no spelling for a value, or if only the first page of a relation is loaded.
    public func encode(to encoder: any Encoder) throws {
        guard let payload = encoder as? PayloadEncoder else { return try record.encode(to: encoder) }
        do {
            let writer = ItemWriter(schema: Model.schema, format: payload.settings.format, isDraft: payload.settings.isDraft)
            try writer.write(record, declaredAs: Model.typeName, to: payload.node)
        } catch let refusal as PayloadRefusal {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: refusal.description))
        }
    }
}

extension ODataItem: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> ODataItem {
        let record = try DynamicEntity.read(payload)
        if PayloadDecoder.deferredLink(record) != nil { throw payload.notLoaded() }
        var check = ItemCheck(Model.schema)
        let fault = check.fault(in: record, declaredAs: Model.typeName)
        if ItemSetting.checks(payload.settings.given) {
            if check.isEnvelope(record, declaredAs: Model.typeName), isInModel, payload.settings.context.text == nil {
                throw payload.collectionForOne()
            }
            if let fault { throw fault.error(inside: payload.codingPath) }
        }
        // A fault, which a lenient client accepts, ends the check before it has found all links.
        guard check.hasLinks || fault != nil || Model.schema === UntypedModel.schema else { return ODataItem(unchecked: record) }
        return ODataItem(unchecked: ItemLinks.resolved(record, payload.entering(record)) ?? record)
    }
}

extension ODataItem: PropertySample {
    /// Returns an item that differs for each number.
    public static func propertySample(_ number: Int) -> ODataItem? {
        ODataItem(unchecked: ["sample": .integer(Int64(number))])
    }
}

/// The setting that turns the check of items on or off, which decoders pass on.
enum ItemSetting {
    /// The key under which `true` turns the checks off.
    static let lenient = CodingUserInfoKey(rawValue: "OData.ItemSetting.lenient")

    static func checks(_ userInfo: [CodingUserInfoKey: some Any]) -> Bool {
        guard !userInfo.isEmpty, let key = lenient else { return true }
        return userInfo[key] as? Bool != true
    }
}

/// Writes an item's object as a payload.
struct ItemWriter {
    let schema: ItemSchema
    let format: PayloadFormat
    /// Whether the payload is compared with another one.
    let isDraft: Bool

    /// Writes an object to a node, whose members can then be compared one by one.
    func write(_ object: DynamicEntity, declaredAs type: String, to node: PayloadNode) throws {
        mark(node, try payload(of: object, declaredAs: type), original: object, declaredAs: type)
    }

    private func mark(_ node: PayloadNode, _ payload: DynamicEntity, original: DynamicEntity, declaredAs type: String) {
        let table = ItemCheck(schema).table(of: original, declaredAs: type)
        node.beObject()
        for property in payload.properties {
            let member = node.member(property.name)
            // An absent property has no member, and the service's value remains.
            member.mayBeAbsent = true
            let declaration = table?.properties[property.name]
            member.isRelation = declaration?.isRelation ?? false
            if case .structured(let inner)? = declaration?.kind, !member.isRelation, case .object(let object) = property.value,
                !member.isTooDeep
            {
                mark(member, object, original: original[property.name]?.object ?? object, declaredAs: inner)
            } else {
                member.content = .value(property.value)
            }
        }
    }

    /// Returns the payload of an object.
    ///
    /// - Throws: ``PayloadRefusal`` with the property's name.
    func payload(of object: DynamicEntity, declaredAs type: String) throws -> DynamicEntity {
        let table = ItemCheck(schema).table(of: object, declaredAs: type)
        // If an entity has only an id, the id is a reference (Protocol 4.01, section 11.4.2.2).
        let isReference = !object.properties.contains { ItemControl.isProperty($0.name) }
        var properties: [DynamicEntity.Property] = []
        properties.reserveCapacity(object.properties.count)
        if let name = ItemControl.typeName(of: object) { properties.append(typeMember(name)) }
        for property in object.properties {
            if let declaration = table?.properties[property.name] {
                do {
                    guard let value = try payload(of: property, declaration, in: object) else { continue }
                    properties.append(.init(property.name, value))
                } catch let refusal as PayloadRefusal {
                    throw PayloadRefusal(description: "The property '\(property.name)': \(refusal.description)")
                }
            } else if ItemControl.isProperty(property.name) {
                // Version 2 sends a link in place of a relation.
                if let inner = property.value.object, PayloadDecoder.deferredLink(inner) != nil { continue }
                properties.append(property)
            } else if let name = writtenName(property.name, isReference: isReference) {
                properties.append(.init(name, property.value))
            }
        }
        return DynamicEntity(properties)
    }

    private func typeMember(_ name: String) -> DynamicEntity.Property {
        guard format.version != .v2 else { return .init("__metadata", .object(["type": .string(name)])) }
        return .init(format.controlName("type"), .string(format.typeReference(name)))
    }

    /// Returns the written name of control information or an annotation; `nil` if it isn't written.
    private func writtenName(_ name: String, isReference: Bool) -> String? {
        guard let mark = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        guard let control = ControlInformation.name(name[mark...]) else { return format.version == .v2 ? nil : name }
        let owner = name[..<mark]
        switch control {
        case "type": return owner.isEmpty || format.version == .v2 ? nil : owner + format.controlName(control)
        case "id": return owner.isEmpty && isReference ? name : nil
        case "bind", "delta": return owner.isEmpty ? nil : name
        default: return nil
        }
    }

    private static let incomplete = PayloadRefusal(
        description: "Only the relation's first page is loaded, and the service would treat it as the whole relation.")

    /// Returns the value of a declared property; `nil` if it isn't written.
    private func payload(
        of property: DynamicEntity.Property, _ declaration: ItemProperty, in object: DynamicEntity
    ) throws -> ODataValue? {
        if case .object(let inner) = property.value {
            // A relation that wasn't loaded, or a stream of version 2.
            if PayloadDecoder.deferredLink(inner) != nil || inner["__mediaresource"] != nil { return nil }
            if declaration.isCollection, let results = inner["results"] {
                if declaration.isRelation, inner["__next"]?.isNull == false, !isDraft { throw Self.incomplete }
                return try payload(of: .init(property.name, results), declaration, in: object)
            }
        }
        if declaration.isRelation, declaration.isCollection, !isDraft,
            ControlInformation(entity: object, property: property.name)["nextLink"]?.string != nil
        {
            throw Self.incomplete
        }
        if case .array(let elements) = property.value, declaration.isCollection {
            return .array(try elements.list.map { try payload(ofElement: $0, declaration) })
        }
        return try payload(ofElement: property.value, declaration)
    }

    private func payload(ofElement value: ODataValue, _ declaration: ItemProperty) throws -> ODataValue {
        guard case .structured(let type) = declaration.kind, case .object(let object) = value else {
            return try declaration.kind.spelled(value, format)
        }
        return .object(try payload(of: object, declaredAs: type))
    }
}
