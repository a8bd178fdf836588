import OData
import WebServiceClient
import WebServiceTesting

extension StubTransport {
    /// Returns a client of a version that sends to this transport, which answers 204 by default.
    func client(_ version: ODataVersion = .v4, root: String = "https://h.example/svc/") -> ODataClient {
        fallback(.status(204))
        let client = ODataClient(serviceRoot: root) { $0.transport = self }
        client.printer = QueryPrinter(version: version)
        return client
    }
}

extension ODataClient {
    /// A client whose service reports the error E1 after every response.
    func takingBackItsAnswers() -> ODataClient {
        configure {
            $0.interceptors = [
                ResponseProcessor {
                    $0.report = ExchangeReport(
                        metrics: { ExchangeMetrics() }, trailers: { ["OData-Error": #"{"error":{"code":"E1","message":"late"}}"#] })
                }
            ]
        }
        return self
    }
}
