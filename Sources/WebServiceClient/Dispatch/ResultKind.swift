import Foundation

/// What kind of result a type asks for, told apart at run time.
enum ResultKind {
    /// Whether a response without a body can be a value of the type.
    static func takesEmpty<Value>(_ type: Value.Type) -> Bool {
        empty(type) != nil
    }

    /// Whether an argument is a `nil` inside of an existential, as generic methods pass it.
    static func isNil(_ value: any Sendable) -> Bool {
        (value as? any EmptyRepresentable)?.isNil ?? false
    }

    /// The value of a response without a body; `nil` when the type has none.
    static func empty<Value>(_ type: Value.Type) -> Value? {
        if type == NoContent.self { return NoContent() as? Value }
        guard let optional = type as? any EmptyRepresentable.Type else { return nil }
        return optional.anyEmpty as? Value
    }
}

/// A type whose value may be that there is none.
private protocol EmptyRepresentable {
    static var anyEmpty: Any { get }
    var isNil: Bool { get }
}

extension Optional: EmptyRepresentable {
    fileprivate static var anyEmpty: Any { Self.none as Any }
    fileprivate var isNil: Bool { self == nil }
}
