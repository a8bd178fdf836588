import Foundation
import WebServiceClient

/// What one operation is called in errors, logs and metrics: its resource without the keys, so that there are few of them.
struct ODataOperation: Sendable {
    let route: String

    init(_ resource: ResourcePath) {
        route = resource.route
    }
}

extension FetchRequest {
    /// The request for the number of what another one matches.
    init(counting other: FetchRequest) {
        self.init(resource: other.resource.appending(.count))
        options = other.options
        options.selection = .all
        options.expansions = []
        options.order = []
        options.top = nil
        options.skip = nil
        options.includesCount = false
        options.levels = nil
        options.index = nil
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
        return prepared(call, operation)
    }

    /// The call to a link of the service.
    func call(_ operation: ODataOperation, link: URL, isForeign: Bool) -> ServiceCall {
        prepared(isForeign ? request(outside: link) : request(link: link), operation)
    }

    private func prepared(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
        let version = printer.version
        return call.named(operation.route, route: operation.route).describing { descriptor in
            let descriptor = descriptor.decoding(with: ODataJSON.serializer)
            return version > .v4 ? descriptor.header("OData-MaxVersion", version.rawValue) : descriptor
        }
    }

    /// An error of an operation outside of its exchange.
    func error(
        _ operation: ODataOperation, _ stage: ServiceError.Stage, _ kind: ServiceError.Kind, _ message: String, cause: (any Error)? = nil
    ) -> ServiceError {
        let identity = CallIdentity(client: String(describing: type(of: self)), key: operation.route, route: operation.route)
        return ServiceError(call: identity, stage: stage, kind: kind, message: message, cause: cause)
    }
}
