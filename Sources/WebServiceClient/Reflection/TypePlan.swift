import Foundation

/// How reflection handles a type, computed once per type and cached.
///
/// Not Sendable, since a plan holds a type's conformances. The cache's lock guards the plans; a plan leaves it only for the call that
/// uses it.
enum TypePlan {
    typealias Problem = ReflectionError.Problem

    /// One text.
    case leaf((Any) throws(Problem) -> String)
    /// An optional, or a type that wraps another value: a raw-representable or type-erased one. `nil` is missing.
    case wrapper((Any) -> Any?)
    /// Ordered values.
    case list((Any) -> [Any])
    /// Unordered values.
    case set((Any) -> [Any])
    /// Keys and values, ordered or not.
    case pairs((Any) -> [(key: Any, value: Any)], areOrdered: Bool)
    /// A type that encodes itself.
    case encodable(isEnum: Bool)
    /// A type with stored properties; the labels are nil if they may differ between values.
    case mirrored(labels: [PropertyLabel]?)
    /// A type without any representation.
    case refused(Problem)

    /// Returns the plan for the value's type.
    static func plan(for value: Any) -> TypePlan {
        let key = ObjectIdentifier(type(of: value))
        if let plan = plans.withLock({ $0[key] }) { return plan }
        // Two threads may do this at once; both get the same result.
        let plan = make(for: value)
        plans.withLock { $0[key] = plan }
        return plan
    }

    private static let plans = Locked<[ObjectIdentifier: TypePlan]>([:])

    private static func make(for value: Any) -> TypePlan {
        let type = type(of: value)
        if type is any TextRepresentable.Type { return leaf { ($0 as? any TextRepresentable)?.text } }
        if let plan = leafPlan(of: type) ?? containerPlan(of: type) { return plan }
        if let type = type as? any RawRepresentable.Type { return rawValue(of: type) }
        let mirror = Mirror(reflecting: value)
        if type is any Encodable.Type { return .encodable(isEnum: mirror.displayStyle == .enum) }
        switch mirror.displayStyle {
        case .struct, .class, .tuple, .collection, .set, .dictionary:
            return .mirrored(labels: type is any CustomReflectable.Type ? nil : mirror.properties.map { PropertyLabel($0.label) })
        case .enum: return .refused(.enumWithoutRawValue)
        default: return .refused(.nothingToReflect)
        }
    }

    private static func leafPlan(of type: Any.Type) -> TypePlan? {
        if type == String.self { return leaf { $0 as? String } }
        if type == Substring.self { return leaf { ($0 as? Substring).map { String($0) } } }
        if type == Character.self { return leaf { ($0 as? Character).map { String($0) } } }
        if type == Bool.self { return leaf { ($0 as? Bool).map { $0 ? "true" : "false" } } }
        if type == UUID.self { return leaf { ($0 as? UUID)?.uuidString } }
        if type == URL.self { return leaf { ($0 as? URL)?.absoluteString } }
        if type == Data.self { return .refused(.binary) }
        if type == Date.self {
            return .leaf { value throws(Problem) in
                guard let text = (value as? Date).flatMap({ ISO8601.text(of: $0) }) else { throw .dateOutOfRange }
                return text
            }
        }
        if type == Decimal.self {
            return .leaf { value throws(Problem) in
                guard let number = value as? Decimal, !number.isNaN else { throw .notFinite }
                return number.description
            }
        }
        if let type = type as? any BinaryInteger.Type { return integer(type) }
        if let type = type as? any BinaryFloatingPoint.Type { return floatingPoint(type) }
        return nil
    }

    private static func containerPlan(of type: Any.Type) -> TypePlan? {
        if type is any OptionalValue.Type { return .wrapper { ($0 as? any OptionalValue)?.wrapped } }
        if type == AnyHashable.self { return .wrapper { ($0 as? AnyHashable)?.base } }
        if type is any ListValue.Type { return .list { ($0 as? any ListValue)?.anyElements ?? [] } }
        if type is any SetValue.Type { return .set { ($0 as? any SetValue)?.anyElements ?? [] } }
        if let type = type as? any PairsValue.Type {
            return .pairs({ ($0 as? any PairsValue)?.anyPairs ?? [] }, areOrdered: type.pairsAreOrdered)
        }
        return nil
    }

    /// A leaf. Its text is nil only for a value of another type than the plan's, which the cache's key rules out.
    private static func leaf(_ text: @escaping (Any) -> String?) -> TypePlan {
        .leaf { value throws(Problem) in
            guard let text = text(value) else { throw .noText }
            return text
        }
    }

    private static func integer<Number: BinaryInteger>(_: Number.Type) -> TypePlan {
        leaf { ($0 as? Number)?.description }
    }

    private static func floatingPoint<Number: BinaryFloatingPoint>(_: Number.Type) -> TypePlan {
        .leaf { value throws(Problem) in
            guard let number = value as? Number, number.isFinite else { throw .notFinite }
            return "\(number)"
        }
    }

    private static func rawValue<Value: RawRepresentable>(of _: Value.Type) -> TypePlan {
        .wrapper { ($0 as? Value).map { $0.rawValue as Any } }
    }
}

/// The name and kind of a stored property, parsed from a mirror's label.
struct PropertyLabel {
    enum Kind {
        /// An ordinary property.
        case plain
        /// A name with a leading underscore: the storage of a property wrapper, or an ordinary property with such a name.
        case underscored
        /// The storage of a `lazy` property.
        case lazy
        /// A tuple element without a label, or a missing label.
        case unlabelled
    }

    let name: String
    let kind: Kind

    init(_ label: String?) {
        let lazyPrefix = "$__lazy_storage_$_"
        if let label, label.hasPrefix(lazyPrefix) {
            (name, kind) = (String(label.dropFirst(lazyPrefix.count)), .lazy)
        } else if let label, label.utf8.first == UInt8(ascii: "_"), label.utf8.count > 1 {
            (name, kind) = (label, .underscored)
        } else if let label, label.utf8.first != UInt8(ascii: ".") {
            (name, kind) = (label, .plain)
        } else {
            (name, kind) = (label ?? "", .unlabelled)
        }
    }
}

extension Mirror {
    /// The stored properties, with those of superclasses first.
    var properties: [Child] {
        var chain = [self]
        while let parent = chain.last?.superclassMirror { chain.append(parent) }
        return chain.reversed().flatMap { Array($0.children) }
    }

    /// The value that a property wrapper stores, found by common property names.
    var wrappedValue: Any? {
        guard displayStyle == .struct || displayStyle == .class else { return nil }
        let found = properties.first { child in
            switch child.label {
            case "wrappedValue", "_wrappedValue", "value", "_value", "storage", "_storage": true
            default: false
            }
        }
        return found?.value
    }
}

// The standard library's containers without their element types.

protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    var wrapped: Any? { map { $0 as Any } }
}

protocol ListValue {
    var anyElements: [Any] { get }
}

extension Array: ListValue {
    var anyElements: [Any] { map { $0 as Any } }
}

extension ArraySlice: ListValue {
    var anyElements: [Any] { map { $0 as Any } }
}

extension ContiguousArray: ListValue {
    var anyElements: [Any] { map { $0 as Any } }
}

protocol SetValue {
    var anyElements: [Any] { get }
}

extension Set: SetValue {
    var anyElements: [Any] { map { $0 as Any } }
}

protocol PairsValue {
    static var pairsAreOrdered: Bool { get }
    var anyPairs: [(key: Any, value: Any)] { get }
}

extension Dictionary: PairsValue {
    static var pairsAreOrdered: Bool { false }
    var anyPairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

extension KeyValuePairs: PairsValue {
    static var pairsAreOrdered: Bool { true }
    var anyPairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}
