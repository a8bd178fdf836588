import Foundation
package import WebServiceClient

/// Supports `.get("/People").query(.argument(0))`: the declared endpoint defines the path, and the query's options are sent.
extension ODataQuery: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try items(at: path, serializer) { printer throws(ODataQueryError) in try printer.request(self) }
    }

    fileprivate func items(
        at path: String, _ serializer: any SerializationDelegate, _ print: (QueryPrinter) throws(ODataQueryError) -> String
    ) throws -> String {
        guard options.headers.isEmpty else {
            throw ODataQueryError.invalidOption("header", reason: "the query is an endpoint's argument; set headers on the endpoint")
        }
        let text = try print(QueryPrinter(version: (serializer as? ODataSerializer)?.format.version ?? .v4))
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let own = "/" + (parts[0].removingPercentEncoding ?? String(parts[0]))
        guard ("/" + (path.removingPercentEncoding ?? path)).hasSuffix(own) else {
            throw ODataQueryError.invalidPath(
                resource.route, reason: "the endpoint that takes the query has another path; only the query's options are sent")
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
