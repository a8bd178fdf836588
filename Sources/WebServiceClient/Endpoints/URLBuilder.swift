public import Foundation

/// Makes the URL of a call from its bound parts, where a service needs it otherwise than by the book.
public protocol URLBuilder: Sendable {
    /// The URL of a call.
    ///
    /// - Throws: any error; the call fails with it.
    func url(from parts: URLParts) throws -> URL
}

/// The parts of a call's URL with the arguments bound in and encoded.
public struct URLParts: Sendable, Hashable {
    /// The service root without a query.
    public let root: String
    /// The relative path, percent-encoded.
    public let path: String
    /// The query of the root and of the endpoint, percent-encoded, without the question mark; empty without one.
    public let query: String
    /// The route as declared.
    public let route: String

    /// The URL by the book: exactly one slash between root and path, the query behind.
    public func standardURL() throws -> URL {
        let joined = URLText.joined(root, path)
        guard let url = URL(string: query.isEmpty ? joined : joined + "?" + query) else {
            throw InvalidRequest(message: "\"\(SecretMask.text(ofURL: joined))\" is no URL: check the service root and the template.")
        }
        return url
    }
}

extension URLParts: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The parts as one, secrets masked.
    public var description: String {
        let joined = URLText.joined(root, path)
        return SecretMask.text(ofURL: query.isEmpty ? joined : joined + "?" + query)
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The URL with its secrets masked, and the route: not even a dump shows them.
    public var customMirror: Mirror { Mirror(self, children: ["url": description, "route": SecretMask.text(ofURL: route)]) }
}
