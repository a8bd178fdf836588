import OData
import WebServiceClient

extension ODataClient {
    /// The client, with a service that says behind every answer that it failed: E1, late.
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
