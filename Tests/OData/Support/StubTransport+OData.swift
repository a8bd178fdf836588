import OData
import WebServiceClient
import WebServiceTesting

extension StubTransport {
    /// A client of a version that sends everything here, where it is answered with 204 unless a test says otherwise.
    func client(_ version: ODataVersion = .v4, root: String = "https://h.example/svc/") -> ODataClient {
        fallback(.status(204))
        let client = ODataClient(serviceRoot: root) { $0.transport = self }
        client.printer = QueryPrinter(version: version)
        return client
    }
}
