import Foundation
import ODataMetadata
import WebServiceClient

// Values in the body of a change, and the arguments of actions.
extension WriteVerifier {
    /// Verifies the value of a property or a parameter.
    ///
    /// - Parameters:
    ///   - name: The property or the parameter.
    ///   - part: The object that contains it.
    ///   - rest: Takes the objects in the value.
    mutating func verify(
        _ value: ODataValue, _ type: ServiceModel.TypeReference, _ name: String, in part: BodyPart, _ steps: [PathStep],
        _ rest: inout [BodyPart]
    ) {
        let point = ModelPoint(type, in: model)
        guard !point.isUnknown else { return }
        guard type.isCollection else {
            if value.isNull { return type.isNullable ? () : reportNull(name, "of " + point.typeName, "set a value", part) }
            return verify(value, point, type, name, in: part, steps, isElement: part.use == .element, &rest)
        }
        // Version 2 has an envelope around a collection.
        let list = value["results"] ?? value
        guard case .array(let elements) = list else {
            if value.isNull { return reportNull(name, "of " + point.typeName, "write an empty array", part) }
            return base.report(.wrongType, at: part.place, name, "'\(name)' is \(point.typeName), not \(value.kind)", fix: "write an array")
        }
        for element in elements {
            if element.isNull {
                if !type.isNullable { reportNull(name, "in " + point.typeName, "leave the element out", part) }
            } else {
                verify(element, point.element, type, name, in: part, steps, isElement: true, &rest)
            }
        }
    }

    private mutating func reportNull(_ name: String, _ type: String, _ fix: String, _ part: BodyPart) {
        base.report(.nullability, at: part.place, name, "'\(name)' is null, which isn't a value \(type) here (Nullable)", fix: fix)
    }

    private mutating func verify(
        _ value: ODataValue, _ point: ModelPoint, _ type: ServiceModel.TypeReference, _ name: String, in part: BodyPart,
        _ steps: [PathStep], isElement: Bool, _ rest: inout [BodyPart]
    ) {
        func wrong(_ found: String, _ fix: String) {
            base.report(.wrongType, at: part.place, name, "'\(name)' is \(point.typeName), not \(found)", fix: fix)
        }
        switch point.value {
        case .unknown: return
        case .structured(let structured):
            guard case .object(let object) = value else { return wrong(value.kind, "write an object with its properties") }
            rest.append(
                BodyPart(
                    object: object, type: structured, use: isElement ? .element : part.use, place: part.place + "/" + name, steps: steps,
                    restrictions: part.restrictions, isInner: true))
        case .enumeration(let enumeration): verify(value, enumeration, name, in: part)
        case .primitive(let primitive):
            if let found = PrimitiveCheck(format).mismatch(value, primitive) {
                return wrong(found, "use \(LiteralCheck.wanted(primitive))")
            }
            // A type definition may state the length in place of the property.
            let stated = type.maxLength ?? model.typeDefinition(type.name)?.underlyingType.maxLength
            guard case .fixed(let limit)? = stated, let text = value.string else { return }
            if primitive == "Edm.String", text.unicodeScalars.count > limit {
                base.report(
                    .wrongType, at: part.place, name, "'\(name)' has more than \(limit) characters (MaxLength)", fix: "write a shorter text"
                )
            } else if primitive == "Edm.Binary", let bytes = EdmBinary.bytes(text), bytes.count > limit {
                base.report(.wrongType, at: part.place, name, "'\(name)' has more than \(limit) bytes (MaxLength)", fix: "write fewer")
            }
        }
    }

    private mutating func verify(_ value: ODataValue, _ type: ServiceModel.EnumType, _ name: String, in part: BodyPart) {
        guard let text = value.string else {
            // Some services accept the values of members.
            if case .integer = value { return }
            return base.report(
                .wrongType, at: part.place, name, "'\(name)' is \(type.qualifiedName), not \(value.kind)",
                fix: "use an enumeration with the names of its members")
        }
        // Every member of an enumeration without declared members is unknown.
        guard !type.members.isEmpty else { return }
        if !type.isFlags, text.contains(",") {
            return base.report(
                .wrongType, at: part.place, name, "'\(name)' is one member of \(type.qualifiedName), not several", fix: "write one member")
        }
        for member in text.split(separator: ",").map({ $0.drop { $0 == " " } }) where Int64(member) == nil {
            guard !type.members.contains(where: { $0.name == member }) else { continue }
            base.report(
                .unknownMember, at: part.place, name, "'\(member.prefix(60))' isn't a member of \(type.qualifiedName) in '\(name)'",
                fix: ModelFault.fix(for: String(member), among: type.members.map(\.name), "members"))
        }
    }

    // MARK: Actions

    /// Verifies a call of an action: its name, its parameters and their values.
    mutating func verifyAction(_ walk: ResourceWalk) {
        guard let last = walk.steps.last else { return }
        let name: String
        switch last {
        case .name(let text, _), .qualified(let text), .operation(let text), .function(let text, _): name = text
        case .key, .keySegment, .filter, .index, .count, .each, .value, .other: return
        }
        let overloads = overloads(name, walk)
        if operation.method == .post, let function = overloads.first, overloads.allSatisfy({ $0.kind == .function }) {
            // Functions of versions 2 and 3 may be called by POST.
            let method = model.version < .v4 ? model.operationImport(name)?.httpMethod ?? "GET" : "GET"
            guard method == "POST" else {
                return base.report(
                    .unknownOperation, at: place, name, "'\(function.qualifiedName)' is a function, which isn't called by POST",
                    fix: "use evaluate(_:as:) with its parameters in the path")
            }
        }
        guard format.version != .v2, case .object(let object)? = operation.body else { return }
        guard let action = overloads.first(where: { $0.kind == .action }) else { return }
        if let found = model.annotation("Org.OData.Core.V1.OperationAvailable", of: action), found.value?.boolValue == false {
            exclude("calls of '\(name)'", by: "Core.OperationAvailable of \(action.target)", fix: "leave the call out")
        }
        verify(object, of: action)
    }

    private func overloads(_ name: String, _ walk: ResourceWalk) -> [ServiceModel.Operation] {
        let count = walk.steps.count
        guard count > 1 else {
            return model.operationImport(name).map { model.operations($0.operation).filter { !$0.isBound } } ?? []
        }
        guard walk.points.count >= count - 1 else { return [] }
        let bound = base.boundOperations(to: walk.points[count - 2])
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        return bound.filter { isQualified ? $0.qualifiedName == model.qualifiedName(name) : $0.name == name }
    }

    private mutating func verify(_ arguments: DynamicEntity, of action: ServiceModel.Operation) {
        let part = BodyPart(
            object: arguments, type: ServiceModel.StructuredType(kind: .complex, namespace: "", name: ""), use: .element, place: place,
            steps: [], restrictions: Restrictions(model))
        let parameters = action.callParameters
        var rest: [BodyPart] = []
        for position in 0..<arguments.count {
            let name = arguments.name(at: position)
            guard ControlInformation.isProperty(name) else { continue }
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                base.report(
                    .unknownOperation, at: place, name, "'\(name)' isn't a parameter of \(action.qualifiedName)",
                    fix: ModelFault.fix(for: name, among: parameters.map(\.name), "parameters"))
                continue
            }
            verify(arguments.value(at: position), parameter.type, name, in: part, [], &rest)
        }
        for parameter in parameters where arguments.position(of: parameter.name) == nil {
            // Omitted parameters are null (Protocol 4.01, section 11.5.5).
            let isOptional = model.annotation("Org.OData.Core.V1.OptionalParameter", of: parameter) != nil
            guard !isOptional, !parameter.type.isNullable else { continue }
            base.report(
                .missingProperty, at: place, parameter.name, "the parameter '\(parameter.name)' of \(action.qualifiedName) is missing",
                fix: "pass it; it is \(parameter.type)")
        }
        verify(rest)
    }
}

/// Compares a value of a payload with a primitive type.
struct PrimitiveCheck {
    let format: PayloadFormat

    init(_ format: PayloadFormat) {
        self.format = format
    }

    private static let integers: [String: ClosedRange<Int64>] = [
        "Edm.Byte": 0...255, "Edm.SByte": -128...127, "Edm.Int16": -32_768...32_767, "Edm.Int32": -2_147_483_648...2_147_483_647,
        "Edm.Int64": Int64.min...Int64.max,
    ]
    /// The numbers that payloads may write as strings (JSON Format 4.01, section 3.2).
    private static let wide: Set = ["Edm.Int64", "Edm.Decimal"]

    /// Returns a description of a value that isn't of a type, or `nil`.
    func mismatch(_ value: ODataValue, _ type: String) -> String? {
        switch LiteralCheck.category(of: type) {
        case .boolean: if case .boolean = value { nil } else { value.kind }
        case .number: number(value, type)
        case .string: value.string == nil ? value.kind : nil
        case .guid: text(value, "a Guid") { UUID(uuidString: $0) != nil }
        // The forms of version 2 differ between services.
        case .date: text(value, "a date") { format.version == .v2 || EdmDate($0) != nil }
        case .instant: text(value, "a point in time") { format.version == .v2 || EdmDateTimeOffset($0)?.offset != nil }
        case .time: text(value, "a time of day") { format.version == .v2 || EdmTimeOfDay($0) != nil }
        case .duration: text(value, "a duration") { NumberText.duration($0) != nil }
        case .binary: text(value, "binary data") { format.version == .v2 || EdmBinary.bytes($0) != nil }
        case .spatial: spatial(value, type)
        case nil: nil
        }
    }

    /// Compares the kind of a value in GeoJSON, such as `LineString`, with that in the type's name.
    private func spatial(_ value: ODataValue, _ type: String) -> String? {
        guard case .object(let object) = value else { return value.kind }
        let wanted = type.replacing("Edm.Geography", with: "").replacing("Edm.Geometry", with: "")
        guard !wanted.isEmpty, let found = object["type"]?.string, found != (wanted == "Collection" ? "GeometryCollection" : wanted) else {
            return nil
        }
        return "a \(found.prefix(40))"
    }

    private func text(_ value: ODataValue, _ what: String, _ isValid: (String) -> Bool) -> String? {
        guard let text = value.string else { return value.kind }
        return isValid(text) ? nil : "a text that isn't \(what)"
    }

    private func number(_ value: ODataValue, _ type: String) -> String? {
        var isWhole = true
        var whole: Int64?
        switch value {
        case .integer(let number): whole = number
        case .decimal(let number):
            let isInRange =
                switch type {
                case "Edm.Double" where number.isFinite: Double(number.description)?.isFinite ?? true
                case "Edm.Single" where number.isFinite: Float(number.description)?.isFinite ?? true
                default: true
                }
            guard isInRange else { return "a number out of its range" }
            whole = number.integer()
            isWhole = whole != nil
        case .string(let text):
            let isNamed = (type == "Edm.Double" || type == "Edm.Single" || type == "Edm.Decimal") && ["INF", "-INF", "NaN"].contains(text)
            if isNamed { return nil }
            // Version 2 writes most numbers as strings.
            guard format.version == .v2 || format.hasTextNumbers && Self.wide.contains(type), let number = EdmDecimal(text) else {
                return value.kind
            }
            whole = number.integer()
            isWhole = whole != nil
        case .null, .boolean, .array, .object: return value.kind
        }
        guard let range = Self.integers[type] else { return nil }
        guard isWhole, let whole else { return "a number with a fraction or out of its range" }
        return range.contains(whole) ? nil : "a number out of its range"
    }
}
