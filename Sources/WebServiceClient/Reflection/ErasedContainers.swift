// The standard library's containers, seen without their element types.

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
