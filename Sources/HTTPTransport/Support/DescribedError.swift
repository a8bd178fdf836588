public import Foundation

/// An error with one text for people: `description`, `localizedDescription`, and the `localizedDescription` of the `NSError` that it is
/// bridged to are equal. All public errors of this package conform to it.
///
///     do { … } catch { print(error.localizedDescription) }    // "Shop.product(id:): The status 404 isn't one of 200...299 …"
///
/// As an `NSError`
/// * the domain is the name of the module and the type, such as `HTTPTransport.TransportError`, without generic arguments;
/// * the code is 1, except for ``TransportError`` and `ServiceError`, which have one for each kind: see ``TransportError/errorCode``.
///
/// Domains and codes stay the same from version to version.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
    /// None: the description names the reason.
    public var failureReason: String? { nil }
    /// None: the description names the fix.
    public var recoverySuggestion: String? { nil }
    /// None.
    public var helpAnchor: String? { nil }

    /// The name of the module and the type.
    public static var errorDomain: String {
        let name = String(reflecting: self)
        return name.firstIndex(of: "<").map { String(name[..<$0]) } ?? name
    }

    /// 1.
    public var errorCode: Int { 1 }

    /// The description.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description]
    }
}

/// What values with secrets inside show of themselves.
package enum MaskedMirror {
    /// A mirror's children on a line, as a structure is printed.
    package static func text(of mirror: Mirror, type: String) -> String {
        let children = mirror.children.map { child in
            let value = ValueText.reflection(of: child.value).split(whereSeparator: \.isNewline).joined(separator: ", ")
            return (child.label.map { $0 + ": " } ?? "") + value
        }
        return "\(type)(\(children.joined(separator: ", ")))"
    }

    /// The name of a value's type; `nil` in words for none.
    package static func typeName(of value: Any?) -> String {
        value.map { String(describing: type(of: $0)) } ?? "nil"
    }
}
