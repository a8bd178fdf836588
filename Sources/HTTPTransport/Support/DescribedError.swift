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
    /// Nil, because the description contains the reason.
    public var failureReason: String? { nil }
    /// Nil, because the description contains the fix.
    public var recoverySuggestion: String? { nil }
    /// Nil.
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

<<<<<<< HEAD
extension TransportError {
    /// A number for each kind: 1 `hostNotFound`, 2 `cannotConnect`, 3 `connectionLost`, 4 `truncated`, 5 `timedOutConnecting`,
    /// 6 `timedOutWaiting`, 7 `timedOutIdle`, 8 `timedOutTotal`, 9 `proxyRefused`, 10 `tls`, 11 `certificateExpired`,
    /// 12 `certificateNotYetValid`, 13 `certificateForOtherHost`, 14 `unknownIssuer`, 15 `pinMismatch`, 16 `clientCertificate`,
    /// 17 `unreadableResponse`, 18 `badRequest`, 19 `unsupported`, 20 `readerTooSlow`; 0 for any other.
    public var errorCode: Int {
        let codes: [Code] = [
            .hostNotFound, .cannotConnect, .connectionLost, .truncated, .timedOutConnecting, .timedOutWaiting, .timedOutIdle,
            .timedOutTotal, .proxyRefused, .tls, .certificateExpired, .certificateNotYetValid, .certificateForOtherHost, .unknownIssuer,
            .pinMismatch, .clientCertificate, .unreadableResponse, .badRequest, .unsupported, .readerTooSlow,
        ]
        return (codes.firstIndex(of: code) ?? -1) + 1
    }

    /// The description and the engine's error.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return info
    }
}

/// Descriptions of values that contain secrets.
=======
/// What values with secrets inside show of themselves.
>>>>>>> ea333dcf20bbe94926c2890c3c63cdd860195e7d
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
