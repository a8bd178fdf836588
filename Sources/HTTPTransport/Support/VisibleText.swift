import Foundation

/// Makes text from a server, a file or an argument safe for errors, descriptions and log lines. The whole package uses this rule.
///
/// Received control characters could move a terminal's cursor, forge a log line, or change the order in which text is shown.
package enum VisibleText {
    /// Returns the text with its control characters written as in Swift literals: `\r`, `\n`, `\u{1B}`.
    ///
    /// These are the C0 and C1 controls except the tab, DEL, the line and paragraph separators, and Unicode's invisible formatting
    /// characters, which include those for bidirectional text. The two joiners are kept, because words and emoji need them.
    ///
    /// - Parameter keepsLineEnds: Whether line feeds are kept, for texts of several lines.
    package static func of(_ text: String, keepsLineEnds: Bool = false) -> String {
        // Most texts are ASCII without control characters.
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        guard text.unicodeScalars.contains(where: { isHidden($0, keepsLineEnds) }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar, keepsLineEnds) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether a scalar is escaped.
    private static func isHidden(_ scalar: Unicode.Scalar, _ keepsLineEnds: Bool) -> Bool {
        switch scalar.value {
        case 0x09: false
        case 0x0A: !keepsLineEnds
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        case 0..<0x80, 0x200C, 0x200D: false
        default: scalar.properties.generalCategory == .format
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\r": "\\r"
        case "\n": "\\n"
        default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
}

/// Values of any type as text for errors, logs and dumps.
///
/// On Linux, `String(describing:)` traps on a `Date` whose interval is NaN, even deep inside a value. These functions don't trap, and limit
/// the length of their texts. They trust the description of a type that has one, except for types of the standard library and Foundation,
/// such as `Range`, `DateInterval` and `URLError`, which call the descriptions of their parts.
package enum ValueText {
    /// The maximum length of a text in characters.
    private static let limit = 64 * 1024
    /// The maximum depth to which a value is inspected, and the maximum number of values in it.
    private static let depth = 12
    private static let most = 500

    /// Returns the value in the form of `String(describing:)`, as far as that is safe.
    package static func text(of value: Any) -> String {
        var budget = most
        let text = isSafe(value, depth: depth, &budget) ? String(describing: value) : spelled(value, depth: depth)
        return text.utf8.count > limit ? text.prefix(limit) + "…" : text
    }

    /// Returns the value in the form of `String(reflecting:)`, as far as that is safe.
    package static func reflection(of value: Any) -> String {
        var budget = most
        return isSafe(value, depth: depth, &budget) ? String(reflecting: value) : spelled(value, depth: depth, inside: true)
    }

    /// Returns the value for an error that contains it, or its text if a description of the value could trap. Programs print such errors.
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

    /// Returns the value built from its parts.
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

extension String {
    /// Calls the body with the text's UTF-8 bytes. Only bridged Objective-C strings are copied.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Whether all UTF-8 bytes satisfy a condition.
    @inline(__always)
    package func hasOnlyBytes(_ isOfKind: (UInt8) -> Bool) -> Bool { hasNoByte { isOfKind($0) ? 0 : 1 } }

    /// Whether a mark is 0 for all UTF-8 bytes.
    ///
    /// Works on contiguous memory, because `utf8.allSatisfy` takes ten times as long. The loop doesn't exit early, so the compiler can
    /// vectorize it: with several conditions only if they are numbers, since `&&` and `||` branch.
    @inline(__always)
    package func hasNoByte(_ mark: (UInt8) -> UInt8) -> Bool {
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            var marks: UInt8 = 0
            for byte in bytes { marks |= mark(byte) }
            return marks == 0
        }
        return result ?? utf8.allSatisfy { mark($0) == 0 }
    }
}

extension StringProtocol {
    /// Returns the parts between the occurrences of a mark.
    package func split(mark: String) -> [SubSequence] {
        var parts: [SubSequence] = []
        var rest = self[...]
        while let found = rest.range(ofMark: mark) {
            parts.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return parts + [rest]
    }

    /// Returns the first occurrence of a mark, without using Foundation. It compares bytes, because a mark may form one character with the
    /// text after it.
    package func range(ofMark mark: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, mark.utf8)
        var position = startIndex
        while position < endIndex {
            if bytes[position...].starts(with: wanted), let end = bytes.index(position, offsetBy: wanted.count, limitedBy: endIndex) {
                return position..<end
            }
            position = bytes.index(after: position)
        }
        return nil
    }
}
