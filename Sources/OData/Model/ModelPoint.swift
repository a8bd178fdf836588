import ODataMetadata

/// The end of a path, as described by the model.
struct ModelPoint {
    enum Value {
        case structured(ServiceModel.StructuredType)
        /// A primitive type: `Edm.String`.
        case primitive(String)
        case enumeration(ServiceModel.EnumType)
        /// A value that the model doesn't describe: a dynamic property, an untyped value, or a type of a document that wasn't read.
        case unknown
    }

    var value: Value
    var isCollection: Bool
    /// The restrictions of the service on the entities here.
    var restrictions: Restrictions
    /// The complex properties since the last entity, which paths of annotations include.
    var steps: [PathStep] = []
    /// Whether the last step was a cast.
    var isCast = false
    /// Whether the last step was a navigation property, an entity set or a singleton.
    var isResource = false

    static func unknown(_ model: ServiceModel) -> ModelPoint {
        ModelPoint(value: .unknown, isCollection: false, restrictions: Restrictions(model))
    }

    /// Creates the point of a type's values.
    init(_ type: ServiceModel.TypeReference, in model: ServiceModel, _ restrictions: Restrictions? = nil) {
        value = Self.value(of: type.name, in: model)
        isCollection = type.isCollection
        self.restrictions = restrictions ?? Restrictions(model)
    }

    init(value: Value, isCollection: Bool, restrictions: Restrictions) {
        self.value = value
        self.isCollection = isCollection
        self.restrictions = restrictions
    }

    private static func value(of name: String, in model: ServiceModel) -> Value {
        switch name {
        case "Edm.Untyped", "Edm.PrimitiveType", "Edm.ComplexType", "Edm.EntityType", "Edm.AnnotationPath", "Edm.PropertyPath": .unknown
        case _ where name.hasPrefix("Edm."): .primitive(name)
        default:
            switch model.type(name) {
            case .structured(let type): .structured(type)
            case .enumeration(let type): .enumeration(type)
            case .definition(let definition): .primitive(definition.underlyingType.name)
            case nil: .unknown
            }
        }
    }

    var structuredType: ServiceModel.StructuredType? {
        if case .structured(let type) = value { type } else { nil }
    }

    var isUnknown: Bool {
        if case .unknown = value { true } else { false }
    }

    /// Whether the value is a stream, which has links instead of a value.
    var isStream: Bool {
        if case .primitive("Edm.Stream") = value { true } else { false }
    }

    /// The type's name in texts: `Edm.String`, `Collection(Sales.Order)`.
    var typeName: String {
        let name =
            switch value {
            case .structured(let type): type.qualifiedName
            case .primitive(let name): name
            case .enumeration(let type): type.qualifiedName
            case .unknown: "an unknown type"
            }
        return isCollection ? "Collection(\(name))" : name
    }

    /// The type as a reference for operations bound to it, or `nil`.
    var reference: ServiceModel.TypeReference? {
        isUnknown
            ? nil
            : ServiceModel.TypeReference(isCollection ? String(typeName.dropFirst(11).dropLast()) : typeName, isCollection: isCollection)
    }

    /// One element of a collection.
    var element: ModelPoint {
        var point = self
        point.isCollection = false
        return point
    }
}

/// A property on the way from an entity.
struct PathStep {
    let name: String
    /// The qualified name of the type that the step begins at, after casts.
    let type: String
    /// The qualified name of the type that declares the property.
    let declaringType: String
    /// Whether a cast precedes the step.
    let isCast: Bool
}

extension [PathStep] {
    /// The names without casts: `Address/Country`.
    var path: String { map(\.name).joined(separator: "/") }

    /// The texts with which annotations can target the path: with its casts, with casts to the types that declare the properties, and
    /// without casts.
    var targets: [String] {
        let isPlain = !contains(where: \.isCast)
        if isPlain { return [path] }
        func text(_ cast: (PathStep) -> String) -> String {
            map { $0.isCast ? cast($0) + "/" + $0.name : $0.name }.joined(separator: "/")
        }
        return [text(\.type), text(\.declaringType), path]
    }

    /// Returns whether a path in an annotation or a binding leads to the same place. A cast in it concerns only its type and the types that
    /// are derived from that; without casts it concerns all types.
    func match(_ path: String, in model: ServiceModel) -> Bool {
        var rest = self[...]
        var casts: [String] = []
        for segment in path.split(separator: "/") {
            guard let step = rest.first, step.name == segment else {
                // Names of types have a namespace.
                guard segment.utf8.contains(UInt8(ascii: ".")) else { return false }
                casts.append(String(segment))
                continue
            }
            guard casts.allSatisfy({ model.isType(step.type, derivedFrom: $0) }) else { return false }
            casts = []
            rest.removeFirst()
        }
        return rest.isEmpty && casts.isEmpty
    }
}

extension ServiceModel {
    /// The names of a type's properties and navigation properties.
    func memberNames(of type: StructuredType) -> [String] {
        properties(of: type).map(\.name) + navigationProperties(of: type).map(\.name)
    }
}

/// The check whether a literal can be compared with a type, and the kinds of values that types need.
enum LiteralCheck {
    private static let numbers: Set = [
        "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Decimal", "Edm.Double", "Edm.Single",
    ]

    /// The kinds of values that can be compared with each other.
    enum Category: Equatable {
        case boolean, number, string, guid, date, instant, time, duration, binary, spatial
    }

    static func category(of type: String) -> Category? {
        switch type {
        case "Edm.Boolean": .boolean
        case "Edm.String": .string
        case "Edm.Guid": .guid
        case "Edm.Date": .date
        case "Edm.DateTimeOffset", "Edm.DateTime": .instant
        case "Edm.TimeOfDay", "Edm.Time": .time
        case "Edm.Duration": .duration
        case "Edm.Binary": .binary
        default: numbers.contains(type) ? .number : type.hasPrefix("Edm.Geo") ? .spatial : nil
        }
    }

    private static func category(of value: EdmValue) -> (Category, String)? {
        switch value {
        case .null, .enumeration: nil
        case .boolean: (.boolean, "a Boolean")
        case .integer, .int64, .decimal, .number, .double, .single: (.number, "a number")
        case .string: (.string, "a string")
        case .guid: (.guid, "a Guid")
        case .dateTimeOffset, .timestamp: (.instant, "a point in time")
        case .date: (.date, "a date")
        case .timeOfDay: (.time, "a time of day")
        case .duration: (.duration, "a duration")
        case .binary: (.binary, "binary data")
        case .spatial: (.spatial, "a geographic or geometric value")
        }
    }

    /// Returns a description of the literal if it can't be compared with a primitive type, or `nil`.
    static func mismatch(_ value: EdmValue, _ type: String) -> String? {
        guard let wanted = category(of: type) else { return nil }
        if case .enumeration(let name, _) = value {
            // Without its type's name, the member is written as a string.
            return wanted == .string && name == nil ? nil : "a member of an enumeration"
        }
        guard let (given, text) = category(of: value), given != wanted else { return nil }
        // In version 2, dates are points in time, and times of day are durations.
        if (type == "Edm.DateTime" && given == .date) || (type == "Edm.Time" && given == .duration) { return nil }
        return text
    }

    /// Returns the Swift types of a primitive type's literals, for fixes.
    static func wanted(_ type: String) -> String {
        switch category(of: type) {
        case .boolean: "a Bool"
        case .number: "a number"
        case .string: "a String"
        case .guid: "a UUID"
        case .date: "an EdmDate"
        case .instant: "a Date or an EdmDateTimeOffset"
        case .time: "an EdmTimeOfDay"
        case .duration: "a Duration"
        case .binary: "a Data"
        case .spatial: "an EdmSpatial"
        case nil: "a value of \(type)"
        }
    }
}
