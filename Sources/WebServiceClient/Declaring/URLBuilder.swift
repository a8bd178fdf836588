public import Foundation

/// Builds the URL of a call from its bound parts, for services with non-standard URLs.
public protocol URLBuilder: Sendable {
    /// Returns the URL of a call.
    ///
    /// - Throws: Any error; the call fails with it.
    func url(from parts: URLParts) throws -> URL
}

/// The parts of a call's URL, with the arguments bound and encoded.
public struct URLParts: Sendable, Hashable {
    /// The service root without a query.
    public let root: String
    /// The relative path, percent-encoded.
    public let path: String
    /// The query of the root and the endpoint, percent-encoded, without the question mark; empty if there is none.
    public let query: String
    /// The route as declared.
    public let route: String

    /// Returns the standard URL: exactly one slash between root and path, followed by the query.
    ///
    /// - Throws: ``InvalidRequest`` if the parts don't form a URL.
    public func standardURL() throws -> URL {
        let joined = URLText.joined(root, path)
        guard let url = URL(string: query.isEmpty ? joined : joined + "?" + query) else {
            throw InvalidRequest(message: "\"\(SecretMask.text(ofURL: joined))\" isn't a URL: check the service root and the template.")
        }
        return url
    }
}

extension URLParts: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The joined parts, with secrets masked.
    public var description: String {
        let joined = URLText.joined(root, path)
        return SecretMask.text(ofURL: query.isEmpty ? joined : joined + "?" + query)
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The URL with secrets masked, and the route: a dump doesn't show secrets either.
    public var customMirror: Mirror { Mirror(self, children: ["url": description, "route": SecretMask.text(ofURL: route)]) }
}
