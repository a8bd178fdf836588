import OData
import WebServiceClient

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
