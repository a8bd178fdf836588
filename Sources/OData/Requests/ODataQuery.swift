import Foundation
package import WebServiceClient

/// A resource and the options it is asked with: what the URL of a request says beneath the service's root.
///
///     ODataQuery(ResourcePath(function: "Nearest", ["to": QueryTerm<AnyEdm>.alias("place")])).alias("place", place)
public struct ODataQuery: QueryBuilding {
    /// Results have no type of their own.
    public typealias Entity = DynamicEntity

    /// Where the resource is.
    public var resource: ResourcePath
    /// The query options.
    public var options: QueryOptions

    /// A query from its parts.
    public init(_ resource: ResourcePath, options: QueryOptions = QueryOptions()) {
        self.resource = resource
        self.options = options
    }
}

/// As the argument of a declared endpoint, `.get("/People").query(.argument(0))`: the endpoint says where, and the query's options are sent.
extension ODataQuery: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try items(at: path, serializer) { printer throws(ODataQueryError) in try printer.request(self) }
    }

    fileprivate func items(
        at path: String, _ serializer: any SerializationDelegate, _ print: (QueryPrinter) throws(ODataQueryError) -> String
    ) throws -> String {
        guard options.headers.isEmpty else {
            throw ODataQueryError.invalidOption("header", reason: "the query is an endpoint's argument; let the endpoint say its headers")
        }
        let text = try print(QueryPrinter(version: (serializer as? ODataSerializer)?.format.version ?? .v4))
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let own = "/" + (parts[0].removingPercentEncoding ?? String(parts[0]))
        guard ("/" + (path.removingPercentEncoding ?? path)).hasSuffix(own) else {
            throw ODataQueryError.invalidPath(
                resource.route, reason: "the endpoint that the query is given to has another path; only the query's options are sent")
        }
        return parts.count > 1 ? String(parts[1]) : ""
    }
}

extension FetchRequest: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try query.items(at: path, serializer) { printer throws(ODataQueryError) in try relativeURL(using: printer) }
    }
}

extension EntityRequest: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try query.items(at: path, serializer) { printer throws(ODataQueryError) in try relativeURL(using: printer) }
    }
}
