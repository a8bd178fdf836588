/// A type that defines the text of its values in a URL, a form or a header.
///
/// This is an explicit choice: `CustomStringConvertible` alone isn't enough, since most descriptions are meant for people. A type whose
/// description is also its wire form needs only the conformance:
///
///     extension Version: TextRepresentable {}
///
/// The text is plain; it is encoded later for its place.
public protocol TextRepresentable {
    /// The value as plain text, not encoded.
    var text: String { get }
}

extension TextRepresentable where Self: CustomStringConvertible {
    /// The description, if the type declares no `text`.
    public var text: String { description }
}

/// The text of an argument's value: the only place that defines how numbers, dates and enums are written in a URL, a form or a header.
package enum ArgumentText {
    /// Returns the value as plain text, not encoded; `nil` for `nil`, at any depth of optionals.
    ///
    /// Supports strings, substrings, characters, integers, finite floating-point numbers (the shortest digits that read back the same),
    /// decimals, `true` and `false`, dates (see ``ISO8601``), UUIDs in upper case, absolute URLs, raw-representable types by their raw
    /// value, ``TextRepresentable`` types by their text, and `Encodable` types that encode themselves as one of these.
    ///
    /// - Parameters:
    ///   - name: The name of the argument in an error.
    ///   - dates: How dates are written.
    /// - Throws: ``ReflectionError`` for any other type.
    package static func text(
        of value: Any, named name: String? = nil, dates: FieldReflection.DateStrategy = .iso8601
    ) throws -> String? {
        if let text = value as? String { return text }
        let path = name.map { FieldPath.key($0, .root) } ?? .root
        switch TypePlan.plan(for: value) {
        case .list, .set, .pairs, .mirrored: throw ReflectionError(.noText, at: path, type: type(of: value))
        default: break
        }
        switch try FieldTreeBuilder(depthLimit: 32, dates: dates).tree(of: value, at: path, depth: 0) {
        case .text(let text): return text
        case .missing: return nil
        case .bytes, .list, .record: throw ReflectionError(.noText, at: path, type: type(of: value))
        }
    }
}
