import Foundation
import WebServiceClient

/// What one operation is called in errors, logs and metrics: its resource without the keys, so that there are few of them.
struct ODataOperation: Sendable {
    let route: String

    init(_ resource: ResourcePath) {
        route = resource.route
    }

    init(route: String) {
        self.route = route
    }
}

extension ODataClient {
    /// The relative URL of an operation.
    func printed(
        _ operation: ODataOperation, _ print: (QueryPrinter) throws(ODataQueryError) -> String
    ) throws -> String {
        do throws(ODataQueryError) {
            return try print(printer)
        } catch {
            throw self.error(operation, .binding, .query, error.description, cause: error)
        }
    }

    /// The call to a printed URL.
    func call(_ operation: ODataOperation, to target: String) -> ServiceCall {
        guard let (path, options) = longQueries.posted(target, version: printer.version) else {
            return prepared(http.request(encoded: target), operation)
        }
        let call = http.request(.post, encoded: path).body(Data(options.utf8)).header(.contentType, "text/plain")
        return prepared(call.header("OData-Version", printer.version.rawValue), operation)
    }

    /// The call of any method to a printed URL.
    func call(_ operation: ODataOperation, to target: String, method: ServiceRequest.Method) -> ServiceCall {
        prepared(http.request(method, encoded: target), operation)
    }

    /// The call to a link of the service.
    func call(_ operation: ODataOperation, link: URL, isForeign: Bool) -> ServiceCall {
        prepared(isForeign ? http.request(outside: link) : http.request(link: link), operation)
    }

    /// The call for a page, with what the client would like of that.
    func paged(_ call: ServiceCall) -> ServiceCall {
        guard let size = maxPageSize, size > 0, printer.version != .v2 else { return call }
        let preference = printer.version > .v4 ? "maxpagesize=\(size)" : "odata.maxpagesize=\(size)"
        // Beside the preferences that the client may have for all its calls (RFC 7240 §2).
        return call.prepare { $0.headers.append("Prefer", preference) }
    }

    private func prepared(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
        let version = printer.version
        var serializer = ODataSerializer(
            format: PayloadFormat(version: version, isIEEE754Compatible: asksForIEEE754Compatible), types: types)
        serializer.userInfo = userInfo
        let serialization = serializer
        var call = call.named(operation.route, route: operation.route).describing {
            $0.serializer(serialization).decoding(with: serialization)
        }
        if version == .v2 {
            // A root that speaks several versions would answer the header of version 4 in version 4.
            for (name, value) in EndpointDefaults.headers(of: version) { call = call.header(HTTPFields.Name(name), value) }
            return call.header("OData-MaxVersion", nil)
        }
        if version > .v4 { call = call.header("OData-MaxVersion", version.rawValue) }
        if metadataLevel != .minimal || asksForIEEE754Compatible {
            let compatible = asksForIEEE754Compatible ? ";IEEE754Compatible=true" : ""
            call = call.header(.accept, "application/json;odata.metadata=\(metadataLevel.rawValue)" + compatible)
        }
        return call
    }

    /// An error of an operation outside of its exchange.
    func error(
        _ operation: ODataOperation, _ stage: ServiceError.Stage, _ kind: ServiceError.Kind, _ message: String, cause: (any Error)? = nil,
        response: ResponseSummary? = nil
    ) -> ServiceError {
        let identity = CallIdentity(client: String(describing: type(of: self)), key: operation.route, route: operation.route)
        return ServiceError(call: identity, stage: stage, kind: kind, message: message, response: response, cause: cause)
    }
}
