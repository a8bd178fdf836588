import Foundation

/// Values of any type as text for errors, logs and dumps.
///
/// On Linux, `String(describing:)` traps on a `Date` whose interval is NaN, also where the date is deep inside a value. These functions don't
/// trap, and the texts have a bound. They trust the description of a type that has one.
package enum ValueText {
    /// The most characters of a text.
    private static let limit = 64 * 1024
    /// How deep a value is looked into, and at how many values in it.
    private static let depth = 12
    private static let most = 500

    /// The value as `String(describing:)` has it, as far as that is safe.
    package static func text(of value: Any) -> String {
        var budget = most
        let text = isSafe(value, depth: depth, &budget) ? String(describing: value) : spelled(value, depth: depth)
        return text.utf8.count > limit ? text.prefix(limit) + "…" : text
    }

    /// The value as `String(reflecting:)` has it, as far as that is safe.
    package static func reflection(of value: Any) -> String {
        var budget = most
        return isSafe(value, depth: depth, &budget) ? String(reflecting: value) : spelled(value, depth: depth, inside: true)
    }

    /// Whether nothing in the value can't be described. What is too large to be looked through isn't known to be safe.
    private static func isSafe(_ value: Any, depth: Int, _ budget: inout Int) -> Bool {
        budget -= 1
        guard depth > 0, budget > 0 else { return false }
        switch value {
        case let date as Date: return isOrdinary(date)
        case is String, is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Data, is URL, is UUID: return true
        case let error as NSError where type(of: value) is NSError.Type:
            for value in error.userInfo.values where !isSafe(value, depth: depth - 1, &budget) { return false }
            return true
        default: break
        }
        let whole = Mirror(reflecting: value)
        if describesItself(value, whole) { return true }
        var mirror: Mirror? = whole
        while let level = mirror {
            for child in level.children where !isSafe(child.value, depth: depth - 1, &budget) { return false }
            mirror = level.superclassMirror
        }
        return true
    }

    /// Whether the type of a value has a description. Containers have one, but it calls the descriptions of their elements.
    private static func describesItself(_ value: Any, _ mirror: Mirror) -> Bool {
        switch mirror.displayStyle {
        case .optional, .collection, .set, .dictionary, .tuple: false
        default: value is any CustomStringConvertible || value is any CustomDebugStringConvertible
        }
    }

    /// Dates of the years that people write: all calendars can tell them.
    private static func isOrdinary(_ date: Date) -> Bool { ISO8601.text(of: date) != nil }

    /// The value by its parts.
    private static func spelled(_ value: Any, depth: Int, inside: Bool = false) -> String {
        guard depth > 0 else { return "…" }
        switch value {
        case let date as Date: return ISO8601.text(of: date) ?? "a date \(date.timeIntervalSince1970) seconds from 1970"
        case let text as String: return inside ? text.prefix(limit).debugDescription : text
        case is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Data, is URL, is UUID:
            return String(describing: value)
        case let error as NSError where type(of: value) is NSError.Type:
            return "\(error.domain) \(error.code) \(spelled(error.userInfo, depth: depth - 1))"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        if describesItself(value, mirror) { return inside ? String(reflecting: value) : String(describing: value) }
        var parts = mirror.children.prefix(20).map { child in
            let part = spelled(child.value, depth: depth - 1, inside: true)
            // The places of a tuple have no names.
            guard let label = child.label, !label.hasPrefix(".") else { return part }
            return "\(label): \(part)"
        }
        if mirror.children.count > parts.count { parts.append("…") }
        let list = parts.joined(separator: ", ")
        switch mirror.displayStyle {
        case .optional: return parts.isEmpty ? "nil" : parts[0]
        case .collection, .set, .dictionary: return "[\(list)]"
        case .tuple: return "(\(list))"
        case .enum:
            guard let label = mirror.children.first?.label, let value = mirror.children.first?.value else {
                return String(describing: value)
            }
            let payload = spelled(value, depth: depth - 1, inside: true)
            return Mirror(reflecting: value).displayStyle == .tuple ? label + payload : "\(label)(\(payload))"
        default: return "\(type(of: value))(\(list))"
        }
    }
}
