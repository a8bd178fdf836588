public import Foundation

/// An error with a single text for people: `description`, `localizedDescription`, and the `localizedDescription` of the bridged `NSError`
/// are equal. All public errors of this package conform to it.
///
///     do { … } catch { print(error.localizedDescription) }    // "Shop.product(id:): The status 404 isn't one of 200...299 …"
///
/// As an `NSError`
/// * the domain is the name of the module and the type, such as `HTTPTransport.TransportError`, without generic arguments;
/// * the code is 1, except for ``TransportError`` and `ServiceError`, which have a code for each kind: see ``TransportError/errorCode``.
///
/// Domains and codes don't change between versions.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
    /// `nil`, because the description contains the reason.
    public var failureReason: String? { nil }
    /// `nil`, because the description contains the fix.
    public var recoverySuggestion: String? { nil }
    /// `nil`.
    public var helpAnchor: String? { nil }

    /// The name of the module and the type.
    public static var errorDomain: String {
        let name = String(reflecting: self)
        return name.firstIndex(of: "<").map { String(name[..<$0]) } ?? name
    }

    /// The code 1.
    public var errorCode: Int { 1 }

    /// The description.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description]
    }
}

/// Descriptions of values that contain secrets.
package enum MaskedMirror {
    /// Returns a mirror's children on one line, in the form of a printed structure.
    package static func text(of mirror: Mirror, type: String) -> String {
        let children = mirror.children.map { child in
            let value = ValueText.reflection(of: child.value).split(whereSeparator: \.isNewline).joined(separator: ", ")
            return (child.label.map { $0 + ": " } ?? "") + value
        }
        return "\(type)(\(children.joined(separator: ", ")))"
    }

    /// Returns the name of a value's type; `"nil"` for `nil`.
    package static func typeName(of value: Any?) -> String {
        value.map { String(describing: type(of: $0)) } ?? "nil"
    }
}
