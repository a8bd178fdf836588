import Foundation
public import ODataMetadata
import WebServiceClient

extension EntityType {
    /// Compares the type with the entity type of its set in the service's model.
    ///
    ///     for fault in Person.verify(against: model) { print(fault) }
    ///     // Person.Age: 'Trippin.Person/Age' can be null, but Int can't; make it optional, or use Presence
    ///
    /// `ServiceModel.verify(_:as:)` describes which differences are reported.
    public static func verify(against model: ServiceModel) -> [ModelFault] {
        guard let type = model.entityType(ofResource: entitySetName) else {
            let names = model.entitySets.map(\.name) + model.singletons.map(\.name)
            return [
                ModelFault(
                    .unknownResource, at: "\(Self.self)", entitySetName, "the service has no entity set '\(entitySetName)'",
                    fix: ModelFault.fix(for: entitySetName, among: names, "entity sets"))
            ]
        }
        return model.verify(Self.self, as: type.qualifiedName)
    }

    /// Checks that the type fits the entity type of its set in the service's model: see ``verify(against:)``.
    ///
    /// - Parameter ignored: Kinds of differences to ignore.
    /// - Throws: ``ModelFaults`` with all differences.
    public static func requireFit(to model: ServiceModel, ignoring ignored: Set<ModelFault.Kind> = []) throws {
        let faults = verify(against: model).filter { !ignored.contains($0.kind) }
        if !faults.isEmpty { throw ModelFaults(subject: "\(Self.self)", faults: faults) }
    }
}

extension ServiceModel {
    /// Compares a Swift type with a type of the model: the names of its properties, their types, whether they can be null, the members of
    /// enumerations, and the types of complex properties and relations, too.
    ///
    /// A sample of the Swift type is decoded to find the properties that it decodes. Two differences aren't reported: properties that the
    /// Swift type omits, and Swift optionals for properties that are never null.
    ///
    /// - Parameters:
    ///   - type: The Swift type of entities or complex values; types of generated models are supported.
    ///   - name: The qualified name of the service's type, such as `Sales.Person`.
    /// - Returns: All differences; empty if there are none.
    public func verify(_ type: any Decodable.Type, as name: String) -> [ModelFault] {
        var verifier = TypeVerifier(model: self)
        guard let structured = structuredType(name) else {
            let names = schemas.flatMap { ($0.entityTypes + $0.complexTypes).map(\.qualifiedName) }
            return [
                ModelFault(
                    .unknownType, at: "\(type)", name, "the model has no entity type or complex type '\(name)'",
                    fix: ModelFault.fix(for: name, among: names, "types"))
            ]
        }
        verifier.verify(type, as: structured)
        return verifier.faults
    }
}

/// Compares Swift types with a model: each pair of types once.
private struct TypeVerifier {
    private struct Pair: Hashable {
        let type: ObjectIdentifier
        let name: String
    }

    let model: ServiceModel
    private(set) var faults: [ModelFault] = []
    private var seen: Set<Pair> = []
    /// The pairs that are left; a list instead of recursion, because types may lead to each other in long chains.
    private var rest: [(type: any Any.Type, structured: ServiceModel.StructuredType)] = []

    init(model: ServiceModel) {
        self.model = model
    }

    mutating func verify(_ type: any Any.Type, as structured: ServiceModel.StructuredType) {
        add(type, structured)
        while let (type, structured) = rest.popLast() {
            switch SwiftMapping.of(type) {
            case .wrapped(let inner)?, .optional(let inner)?: add(inner, structured)
            case .any?: continue
            default:
                if let item = type as? any DescribedItem.Type {
                    compare(item.itemSchema, item.itemTypeName, "\(type)", structured)
                } else {
                    compare(type, structured)
                }
            }
        }
    }

    private mutating func add(_ type: any Any.Type, _ structured: ServiceModel.StructuredType) {
        guard seen.insert(Pair(type: ObjectIdentifier(type), name: structured.qualifiedName)).inserted else { return }
        rest.append((type, structured))
    }

    private mutating func report(_ kind: ModelFault.Kind, at place: String, _ offender: String, _ problem: String, fix: String) {
        faults.append(ModelFault(kind, at: place, offender, problem, fix: fix))
    }

    // MARK: Structured types

    private mutating func compare(_ type: any Any.Type, _ structured: ServiceModel.StructuredType) {
        guard let decodable = type as? any Decodable.Type else { return }
        let pass = ProbePass(recordingRequests: ())
        var failure: String?
        do {
            _ = try pass.value(decodable, at: [])
        } catch {
            failure = ProbePass.reason(error)
        }
        var names = pass.topNames.filter { !$0.contains("@") }
        if case .names(let stated, _)? = (type as? any PropertyNaming.Type)?.decodedProperties {
            names += stated.filter { !names.contains($0) }
        } else if failure != nil {
            report(
                .undetermined, at: "\(type)", "\(type)",
                "a sample of the type couldn't be decoded, so some properties weren't compared: \(failure ?? "")",
                fix: "let the types of its properties conform to PropertySample, or conform to PropertyNaming and list the names")
        }
        // The names of sample elements are no properties: a dictionary accepts any name.
        for name in names where !name.hasPrefix(ProbePass.elementStep) {
            compare(name, pass.requests[name] ?? ProbePass.Request(), of: type, structured)
        }
    }

    private mutating func compare(
        _ name: String, _ request: ProbePass.Request, of type: any Any.Type, _ structured: ServiceModel.StructuredType
    ) {
        let place = "\(type).\(name)"
        if let property = model.property(name, of: structured.qualifiedName) {
            compare(
                request, with: ModelPoint(property.type, in: model), isNullable: property.type.isNullable && !property.type.isCollection,
                property.target, at: place)
        } else if let property = model.navigationProperty(name, of: structured.qualifiedName) {
            let reference = ServiceModel.TypeReference(property.targetType, isCollection: property.isCollection)
            var point = ModelPoint(reference, in: model)
            point.isResource = true
            compare(request, with: point, isNullable: property.isNullable, property.target, at: place)
        } else if !model.isOpen(structured) {
            report(
                .unknownProperty, at: place, name, "'\(name)' isn't a property of \(structured.qualifiedName)",
                fix: ModelFault.fix(for: name, among: model.memberNames(of: structured), "properties"))
        }
    }

    // MARK: Properties

    private mutating func compare(
        _ request: ProbePass.Request, with point: ModelPoint, isNullable: Bool, _ target: String, at place: String
    ) {
        guard let outer = request.types.first else { return }
        var type = outer
        var isOptional = request.isOptional
        var mapping = SwiftMapping.of(type)
        // An unknown wrapper decodes its value at its own place, so the next requested type is the value's.
        for inner in request.types.dropFirst() where mapping == nil {
            guard let known = SwiftMapping.of(inner) else { continue }
            mapping = known
            type = inner
        }
        while true {
            if case .optional(let inner)? = mapping {
                isOptional = true
                type = inner
            } else if case .wrapped(let inner)? = mapping {
                type = inner
            } else {
                break
            }
            mapping = SwiftMapping.of(type)
        }
        if case .any? = mapping { return }
        if point.isUnknown { return }
        var isRelation = false
        var isCollection = false
        switch mapping {
        case .collection(let element)?:
            isCollection = true
            type = element
        case .relation(let entity, let isMany)?:
            (isRelation, isCollection) = (true, isMany)
            // A relation type has a state for a relation that isn't loaded or is null.
            isOptional = true
            type = entity
        default: break
        }
        if isRelation, !point.isResource {
            report(
                .wrongType, at: place, target, "'\(target)' isn't a navigation property, but \(outer) is for one",
                fix: "use the property's own type")
            return
        }
        guard isCollection == point.isCollection else {
            report(
                .wrongType, at: place, target,
                "'\(target)' is \(point.typeName), " + (isCollection ? "not a collection" : "a collection") + ", but \(outer) is "
                    + (isCollection ? "one" : "not one"), fix: isCollection ? "use the type of one value" : "use an array or ToMany")
            return
        }
        if isNullable, !isOptional, !point.isStream {
            report(
                .nullability, at: place, target, "'\(target)' can be null, but \(outer) can't",
                fix: point.isResource ? "make it optional, or use ToOne" : "make it optional, or use Presence")
        }
        compareValue(type, with: point.element, target, at: place)
    }

    private mutating func compareValue(_ outer: any Any.Type, with point: ModelPoint, _ target: String, at place: String) {
        var type = outer
        var mapping = SwiftMapping.of(type)
        while case .optional(let inner)? = mapping {
            type = inner
            mapping = SwiftMapping.of(type)
        }
        switch (point.value, mapping) {
        case (.unknown, _), (_, .any?): return
        case (.structured(let structured), nil), (.structured(let structured), .wrapped?): add(type, structured)
        case (.primitive(let name), .primitive(let exact, let lossy)?):
            if exact.contains(name) { return }
            guard lossy.contains(name) else { return reportWrong(type, point, target, at: place) }
            report(
                .precision, at: place, target, "'\(target)' is \(name), and \(type) can't hold all of its values exactly",
                fix: "use \(Self.swiftType(of: name))")
        case (.primitive("Edm.String"), .enumeration?), (.primitive, nil): return
        case (.enumeration(let enumeration), .enumeration(let mapping)?): compare(mapping, enumeration, at: place)
        // The name of a member is a string in JSON.
        case (.enumeration, .primitive(let exact, _)?) where exact == ["Edm.String"]: return
        case (.enumeration, nil):
            // Types of the library that accept any member by its name.
            return
        default: reportWrong(type, point, target, at: place)
        }
    }

    private mutating func reportWrong(_ type: any Any.Type, _ point: ModelPoint, _ target: String, at place: String) {
        let wanted: String =
            switch point.value {
            case .primitive(let name): Self.swiftType(of: name)
            case .enumeration: "an enumeration type, or OpenEnumeration of one"
            case .structured(let type): "a Decodable type with the properties of \(type.qualifiedName)"
            case .unknown: "a Decodable type with its properties"
            }
        report(.wrongType, at: place, target, "'\(target)' is \(point.typeName), not \(type)", fix: "use \(wanted)")
    }

    private static func swiftType(of name: String) -> String {
        switch name {
        case "Edm.Boolean": "Bool"
        case "Edm.Byte": "UInt8"
        case "Edm.SByte": "Int8"
        case "Edm.Int16": "Int16"
        case "Edm.Int32": "Int32 or Int"
        case "Edm.Int64": "Int64"
        case "Edm.Decimal": "EdmDecimal or Decimal"
        case "Edm.Double": "Double"
        case "Edm.Single": "Float"
        case "Edm.Guid": "UUID"
        case "Edm.DateTimeOffset", "Edm.DateTime": "Date or EdmDateTimeOffset"
        case "Edm.Date": "EdmDate"
        case "Edm.TimeOfDay", "Edm.Time": "EdmTimeOfDay"
        case "Edm.Duration": "EdmDuration"
        case "Edm.Binary": "Data"
        case "Edm.Stream": "EdmStream"
        case "Edm.String": "String"
        default: name.hasPrefix("Edm.Geo") ? "EdmSpatial" : "ODataValue"
        }
    }

    // MARK: Enumerations

    private mutating func compare(_ mapping: EnumerationMapping, _ type: ServiceModel.EnumType, at place: String) {
        if let name = mapping.edmTypeName, model.qualifiedName(name) != type.qualifiedName {
            report(
                .wrongType, at: place, name, "the edmTypeName of \(mapping.type) is '\(name)', but the property is \(type.qualifiedName)",
                fix: "correct edmTypeName: literals contain it")
        }
        let names = type.members.map(\.name)
        for member in mapping.members ?? [] where !names.contains(member) && !names.isEmpty {
            report(
                .unknownMember, at: place, member, "'\(member)' of \(mapping.type) isn't a member of \(type.qualifiedName)",
                fix: ModelFault.fix(for: member, among: names, "members"))
        }
        guard !mapping.isOpen else { return }
        for name in names where !mapping.contains(name) {
            report(
                .missingMember, at: place, name, "\(mapping.type) has no member '\(name)' of \(type.qualifiedName)",
                fix: "add it, or use OpenEnumeration<\(mapping.type)>")
        }
    }

    // MARK: Generated models

    /// Compares a model in generated code, which may be older than the service's model, with a type.
    private mutating func compare(
        _ schema: ItemSchema, _ name: String, _ type: String, _ structured: ServiceModel.StructuredType
    ) {
        guard let table = schema.table(of: name) else { return }
        for (name, property) in table.properties.sorted(by: { $0.key < $1.key }) {
            let place = "\(type).\(name)"
            let point: ModelPoint
            if let found = model.property(name, of: structured.qualifiedName) {
                point = ModelPoint(found.type, in: model)
            } else if let found = model.navigationProperty(name, of: structured.qualifiedName) {
                point = ModelPoint(ServiceModel.TypeReference(found.targetType, isCollection: found.isCollection), in: model)
            } else {
                if model.isOpen(structured) { continue }
                report(
                    .unknownProperty, at: place, name, "'\(name)' isn't a property of \(structured.qualifiedName)",
                    fix: "generate the code again"
                        + (NearestName.of(name, among: model.memberNames(of: structured)).map { "; the nearest name is '\($0)'" } ?? ""))
                continue
            }
            guard !property.isSame(as: point, model) else { continue }
            report(.wrongType, at: place, name, "'\(name)' is now \(point.typeName)", fix: "generate the code again")
        }
    }
}

/// Any `ODataItem`, without its generic parameter. Its generated model lists its properties.
private protocol DescribedItem {
    static var itemSchema: ItemSchema { get }
    static var itemTypeName: String { get }
}

extension ODataItem: DescribedItem {
    fileprivate static var itemSchema: ItemSchema { Model.schema }
    fileprivate static var itemTypeName: String { Model.typeName }
}

extension ItemProperty {
    /// Returns whether the service's model agrees with the kind of a generated property.
    fileprivate func isSame(as point: ModelPoint, _ model: ServiceModel) -> Bool {
        if point.isUnknown || kind == .any { return true }
        guard isCollection == point.isCollection else { return false }
        switch (kind, point.value) {
        case (.structured(let name), .structured(let type)): return model.isType(type.qualifiedName, derivedFrom: name)
        case (.enumeration, .enumeration): return true
        case (.structured, _), (.enumeration, _), (_, .structured), (_, .enumeration): return false
        case (_, .primitive(let name)): return ItemKind(name, in: ItemSchema("")) == kind
        default: return true
        }
    }
}
