import Foundation

/// The values that a Swift type can hold, in terms of the Entity Data Model.
enum SwiftMapping {
    /// Values of these primitive types. Those of `lossy` can't all be held exactly.
    case primitive(Set<String>, lossy: Set<String> = [])
    /// A value that may be null.
    case optional(any Any.Type)
    /// A collection of values.
    case collection(any Any.Type)
    /// A navigation property.
    case relation(any Any.Type, isCollection: Bool)
    /// Members of an enumeration.
    case enumeration(EnumerationMapping)
    /// The entity inside.
    case wrapped(any Any.Type)
    /// Any value.
    case any

    /// Returns the mapping of a type; `nil` for structured types and unknown types.
    static func of(_ type: any Any.Type) -> SwiftMapping? {
        if let mapped = type as? any ModelMapped.Type { return mapped.modelMapping }
        if let known = primitives[ObjectIdentifier(type)] { return .primitive(known.0, lossy: known.1) }
        if let integer = type as? any FixedWidthInteger.Type { return ofInteger(integer) }
        if let raw = type as? any RawRepresentable.Type { return ofRaw(raw) }
        return nil
    }

    private static let instants: Set = ["Edm.DateTimeOffset", "Edm.DateTime"]
    private static let integers: [(name: String, range: ClosedRange<Int64>)] = [
        ("Edm.Byte", 0...255), ("Edm.SByte", -128...127), ("Edm.Int16", Int64(Int16.min)...Int64(Int16.max)),
        ("Edm.Int32", Int64(Int32.min)...Int64(Int32.max)), ("Edm.Int64", Int64.min...Int64.max),
    ]
    private static let allIntegers = Set(integers.map(\.name))
    private static let spatial: Set<String> = {
        let kinds = ["", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "Collection"]
        return Set(kinds.flatMap { ["Edm.Geography" + $0, "Edm.Geometry" + $0] })
    }()

    private static let primitives: [ObjectIdentifier: (Set<String>, Set<String>)] = {
        let numbers = allIntegers.union(["Edm.Decimal", "Edm.Double", "Edm.Single"])
        let list: [(any Any.Type, Set<String>, Set<String>)] = [
            (Bool.self, ["Edm.Boolean"], []), (String.self, ["Edm.String"], []), (URL.self, ["Edm.String"], []),
            (Double.self, ["Edm.Double", "Edm.Single", "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32"], ["Edm.Int64", "Edm.Decimal"]),
            (Float.self, ["Edm.Single", "Edm.Byte", "Edm.SByte", "Edm.Int16"], ["Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.Decimal"]),
            (Decimal.self, allIntegers.union(["Edm.Decimal"]), ["Edm.Double", "Edm.Single"]),
            (EdmDecimal.self, numbers, []), (UUID.self, ["Edm.Guid"], []), (Date.self, instants, []),
            (EdmDateTimeOffset.self, instants, []),
            (EdmDate.self, ["Edm.Date", "Edm.DateTime"], []), (EdmTimeOfDay.self, ["Edm.TimeOfDay", "Edm.Time"], []),
            (EdmDuration.self, ["Edm.Duration", "Edm.Time"], []), (Data.self, ["Edm.Binary", "Edm.Stream"], []),
            (EdmBinary.self, ["Edm.Binary", "Edm.Stream"], []), (EdmSpatial.self, spatial, []), (EdmStream.self, ["Edm.Stream"], []),
        ]
        return Dictionary(uniqueKeysWithValues: list.map { (ObjectIdentifier($0.0), ($0.1, $0.2)) })
    }()

    private static func ofInteger<Value: FixedWidthInteger>(_: Value.Type) -> SwiftMapping {
        let held = integers.filter { Value(exactly: $0.range.lowerBound) != nil && Value(exactly: $0.range.upperBound) != nil }
        let exact = Set(held.map(\.name))
        return .primitive(exact, lossy: allIntegers.subtracting(exact).union(["Edm.Decimal"]))
    }

    private static func ofRaw<Value: RawRepresentable>(_ type: Value.Type) -> SwiftMapping? {
        guard Value.RawValue.self == String.self else { return of(Value.RawValue.self) }
        return .enumeration(EnumerationMapping(type, isOpen: false))
    }
}

/// A Swift enumeration whose raw values are the names of members.
struct EnumerationMapping {
    /// The Swift type.
    let type: any Any.Type
    /// The members, if the type lists them.
    let members: [String]?
    /// The qualified name of the service's type, if the Swift type states it.
    let edmTypeName: String?
    /// Whether the Swift type can decode members that it doesn't declare.
    let isOpen: Bool
    /// Returns whether the type has a member.
    let contains: (String) -> Bool

    init<Value: RawRepresentable>(_ type: Value.Type, isOpen: Bool) {
        self.type = type
        self.isOpen = isOpen
        func rawValues<Cases: CaseIterable>(_: Cases.Type) -> [String] {
            Cases.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        }
        members = (type as? any CaseIterable.Type).map { rawValues($0) }
        edmTypeName = (type as? any EdmEnumeration.Type)?.edmTypeName
        contains = { name in (name as? Value.RawValue).flatMap { Value(rawValue: $0) } != nil }
    }
}

/// A generic type with a known relation to the Entity Data Model.
protocol ModelMapped {
    static var modelMapping: SwiftMapping { get }
}

extension Optional: ModelMapped {
    static var modelMapping: SwiftMapping { .optional(Wrapped.self) }
}

extension Presence: ModelMapped {
    static var modelMapping: SwiftMapping { .optional(Wrapped.self) }
}

extension Array: ModelMapped {
    static var modelMapping: SwiftMapping { .collection(Element.self) }
}

extension Set: ModelMapped {
    static var modelMapping: SwiftMapping { .collection(Element.self) }
}

extension ToOne: ModelMapped {
    static var modelMapping: SwiftMapping { .relation(Entity.self, isCollection: false) }
}

extension ToMany: ModelMapped {
    static var modelMapping: SwiftMapping { .relation(Entity.self, isCollection: true) }
}

extension OpenEnumeration: ModelMapped {
    static var modelMapping: SwiftMapping { .enumeration(EnumerationMapping(Known.self, isOpen: true)) }
}

extension EdmFlags: ModelMapped {
    static var modelMapping: SwiftMapping { .enumeration(EnumerationMapping(Known.self, isOpen: true)) }
}

extension ODataEntity: ModelMapped {
    static var modelMapping: SwiftMapping { .wrapped(Entity.self) }
}

extension Polymorphic: ModelMapped {
    static var modelMapping: SwiftMapping { .wrapped(Base.self) }
}

extension ODataValue: ModelMapped {
    static var modelMapping: SwiftMapping { .any }
}

extension DynamicEntity: ModelMapped {
    static var modelMapping: SwiftMapping { .any }
}

// The members of generated enumerations include unknown members.
extension OpenMember: ModelMapped {
    static var modelMapping: SwiftMapping { .any }
}

extension OpenFlags: ModelMapped {
    static var modelMapping: SwiftMapping { .any }
}
