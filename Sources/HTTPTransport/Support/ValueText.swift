import Foundation

/// Values of any type as text for errors, logs and dumps.
///
/// On Linux, `String(describing:)` traps on a `Date` whose interval is NaN, even deep inside a value. These functions don't trap, and limit
/// the length of their texts. They trust the description of a type that has one. System types such as `Range`, `DateInterval` and
/// `URLError` describe their parts, so the parts are inspected first.
package enum ValueText {
    /// The maximum length of a text in Unicode scalars: a character may have any number of them.
    private static let limit = 64 * 1024
    /// The maximum depth to which a value is inspected, and the maximum number of values in it.
    private static let depth = 12
    private static let most = 500

    /// Returns the value in the form of `String(describing:)`, as far as that is safe.
    package static func text(of value: Any) -> String {
        var budget = most
        return bounded(isSafe(value, depth: depth, &budget) ? String(describing: value) : spelled(value, depth: depth))
    }

    /// Returns the value in the form of `String(reflecting:)`, as far as that is safe.
    package static func reflection(of value: Any) -> String {
        var budget = most
        return bounded(isSafe(value, depth: depth, &budget) ? String(reflecting: value) : spelled(value, depth: depth, inside: true))
    }

    /// Returns the text, or its first `limit` scalars and an ellipsis.
    private static func bounded(_ text: String) -> String {
        // Counting bytes is quick, and a text has at least as many bytes as scalars.
        guard text.utf8.count > limit else { return text }
        let start = text.unicodeScalars.prefix(limit)
        return start.endIndex == text.endIndex ? text : String(start) + "…"
    }

    /// Returns a value to store in an error, which programs print: the value, or its text if describing it could trap.
    package static func describable(_ value: Any) -> Any {
        var budget = most
        return isSafe(value, depth: depth, &budget) ? value : spelled(value, depth: depth)
    }

    /// Whether everything in the value can be described safely. A value that is too large to inspect counts as unsafe.
    private static func isSafe(_ value: Any, depth: Int, _ budget: inout Int) -> Bool {
        budget -= 1
        guard depth > 0, budget > 0 else { return false }
        switch value {
        case let date as Date: return isOrdinary(date)
        case is String, is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Data, is URL, is UUID: return true
        case let error as NSError where type(of: value) is NSError.Type:
            for value in error.userInfo.values where !isSafe(value, depth: depth - 1, &budget) { return false }
            return true
        case let part as any DictionaryPart: return isSafe(part.elements, depth: depth, &budget)
        default: break
        }
        let whole = Mirror(reflecting: value)
        if describesItself(value, whole), !isSystemValue(value, whole) { return true }
        var mirror: Mirror? = whole
        while let level = mirror {
            for child in level.children where !isSafe(child.value, depth: depth - 1, &budget) { return false }
            mirror = level.superclassMirror
        }
        return true
    }

    /// Whether the type has its own description. Containers have one, but it calls the descriptions of their elements.
    private static func describesItself(_ value: Any, _ mirror: Mirror) -> Bool {
        switch mirror.displayStyle {
        case .optional, .collection, .set, .dictionary, .tuple: false
        default: value is any CustomStringConvertible || value is any CustomDebugStringConvertible
        }
    }

    /// Whether the type is a value type of the system, such as `Range` and `EncodingError`. Their descriptions call those of their parts.
    private static func isSystemValue(_ value: Any, _ mirror: Mirror) -> Bool {
        guard mirror.displayStyle != .class, !(type(of: value) is AnyClass) else { return false }
        let name = String(reflecting: type(of: value))
        return systemModules.contains { name.hasPrefix($0) }
    }

    private static let systemModules = ["Swift.", "Foundation.", "FoundationEssentials.", "FoundationNetworking."]

    /// Whether a date is in the years 0000 to 9999, which all calendars can represent.
    private static func isOrdinary(_ date: Date) -> Bool { ISO8601.text(of: date) != nil }

    /// Returns a text of the value, built from its parts.
    private static func spelled(_ value: Any, depth: Int, inside: Bool = false) -> String {
        guard depth > 0 else { return "…" }
        switch value {
        case let date as Date: return ISO8601.text(of: date) ?? "a date \(date.timeIntervalSince1970) seconds from 1970"
        case let text as String: return inside ? text.prefix(limit).debugDescription : text
        case is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Data, is URL, is UUID:
            return String(describing: value)
        case let error as NSError where type(of: value) is NSError.Type:
            return "\(error.domain) \(error.code) \(spelled(error.userInfo, depth: depth - 1))"
        case let part as any DictionaryPart: return spelled(part.elements, depth: depth, inside: inside)
        default: break
        }
        let mirror = Mirror(reflecting: value)
        var budget = most
        if describesItself(value, mirror), !isSystemValue(value, mirror) || isSafe(value, depth: depth, &budget) {
            return inside ? String(reflecting: value) : String(describing: value)
        }
        var parts = mirror.children.prefix(20).map { child in
            let part = spelled(child.value, depth: depth - 1, inside: true)
            // The elements of a tuple have no names.
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

/// The keys or values of a dictionary, which a mirror doesn't show.
private protocol DictionaryPart {
    var elements: [Any] { get }
}

extension Dictionary.Keys: DictionaryPart {
    fileprivate var elements: [Any] { Array(self) }
}

extension Dictionary.Values: DictionaryPart {
    fileprivate var elements: [Any] { Array(self) }
}
