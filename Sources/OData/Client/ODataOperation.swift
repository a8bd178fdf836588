import Foundation
import WebServiceClient

/// What one operation is called in errors, logs and metrics: its resource without the keys, so that there are few of them.
struct ODataOperation: Sendable {
    let route: String
    /// The header fields of the request's own.
    var headers = HTTPFields()

    init(_ resource: ResourcePath) {
        route = resource.route
    }

    init(_ query: ODataQuery) {
        route = query.resource.route
        headers = query.options.headers
    }

    /// The preferences of the request's own.
    var preferences: [String] { headers[values: "Prefer"] }

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
            return prepared(request(encoded: target), operation)
        }
        let call = request(.post, encoded: path).body(Data(options.utf8)).header(.contentType, "text/plain")
        return prepared(call.header("OData-Version", printer.version.rawValue), operation)
    }

    /// The call of any method to a printed URL.
    func call(_ operation: ODataOperation, to target: String, method: ServiceRequest.Method) -> ServiceCall {
        prepared(request(method, encoded: target), operation)
    }

    /// The call to a link of the service.
    func call(_ operation: ODataOperation, link: URL, isForeign: Bool) -> ServiceCall {
        guard isForeign else { return prepared(request(link: link), operation) }
        // What the request has for its service is none of another's business.
        var anonymous = operation
        anonymous.headers = HTTPFields(operation.headers.filter { $0.name == "Prefer" })
        return prepared(request(outside: link), anonymous)
    }

    /// The call for a page, with what the client would like of that.
    func paged(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
        let isSaid = operation.preferences.contains { $0.lowercased().contains("maxpagesize") }
        guard let size = maxPageSize, size > 0, printer.version != .v2, !isSaid else { return call }
        let preference = printer.version > .v4 ? "maxpagesize=\(size)" : "odata.maxpagesize=\(size)"
        return preferring(call, operation.preferences, behind: preference)
    }

    /// The call with preferences, beside those that the client may have for all its calls: before them, since of those that are given twice the
    /// first one counts (RFC 7240 §2), or behind them.
    func preferring(_ call: ServiceCall, _ preferences: [String], behind last: String? = nil) -> ServiceCall {
        guard !preferences.isEmpty || last != nil else { return call }
        return call.prepare { request in
            if !preferences.isEmpty {
                request.headers["Prefer"] = (preferences + request.headers[values: "Prefer"]).joined(separator: ", ")
            }
            if let last { request.headers.append("Prefer", last) }
        }
    }

    /// The call with all that the client and the request say of it.
    private func prepared(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
        var call = preferring(described(call, operation), operation.preferences)
        for field in operation.headers where field.name != "Prefer" { call = call.header(field.name, operation.headers[field.name]) }
        return call
    }

    private func described(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
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
