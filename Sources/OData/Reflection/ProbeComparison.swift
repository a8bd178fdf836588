/// Compares the value that a key path reads from a sample with the value that the decoder returned.
enum ProbeComparison {
    static func isSame(_ read: Any, _ given: Any) -> Bool {
        guard let read = unwrapped(read), let given = unwrapped(given) else { return false }
        if let equal = equality(read, given) { return equal }
        guard type(of: read) == type(of: given) else { return isSameText(read, given) }
        if type(of: read) is AnyClass { return (read as AnyObject) === (given as AnyObject) }
        return isSameStructure(read, given)
    }

    /// Returns whether a value differs between two samples; otherwise it can't tell properties apart.
    static func differs(_ first: Any, _ second: Any) -> Bool {
        guard let first = unwrapped(first), let second = unwrapped(second) else { return false }
        if let equal = equality(first, second) { return !equal }
        if type(of: first) is AnyClass { return true }
        return !isSameStructure(first, second)
    }

    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first.flatMap { unwrapped($0.value) }
    }

    /// Returns `nil` if the types differ or aren't equatable.
    private static func equality(_ left: Any, _ right: Any) -> Bool? {
        func compare<Value: Equatable>(_ left: Value) -> Bool? {
            (right as? Value).map { left == $0 }
        }
        return (left as? any Equatable).flatMap { compare($0) }
    }

    /// Compares a whole number or string with one of another type by its text of 5 or more bytes, since a type may convert what it
    /// decoded. Each property has a unique number.
    private static func isSameText(_ left: Any, _ right: Any) -> Bool {
        guard isPlain(left), isPlain(right) else { return false }
        let text = String(describing: left)
        return text.utf8.count >= 5 && text == String(describing: right)
    }

    private static func isPlain(_ value: Any) -> Bool {
        value is String || value is any BinaryInteger
    }

    private static func isSameStructure(_ left: Any, _ right: Any) -> Bool {
        let (leftMirror, rightMirror) = (Mirror(reflecting: left), Mirror(reflecting: right))
        guard !leftMirror.children.isEmpty else {
            // Values without parts match, such as empty collections; `differs` has rejected those equal in the first two samples.
            guard rightMirror.children.isEmpty else { return false }
            return leftMirror.displayStyle != .enum || String(describing: left) == String(describing: right)
        }
        guard leftMirror.children.count == rightMirror.children.count else { return false }
        return zip(leftMirror.children, rightMirror.children).allSatisfy { pair in
            guard let left = unwrapped(pair.0.value), let right = unwrapped(pair.1.value) else {
                return unwrapped(pair.0.value) == nil && unwrapped(pair.1.value) == nil
            }
            if let equal = equality(left, right) { return equal }
            return type(of: left) == type(of: right) && isSameStructure(left, right)
        }
    }
}
