import Foundation
import WebServiceClient

/// Prints a line for each call: status, time, method and path.
///
/// An interceptor wraps whatever follows it in the chain. Those of a client run once per call, around redirects, retries and
/// authentication: what is measured is what the caller waits for, until the head of the response is there.
struct CallPrinter: Interceptor {
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            line(String(response.status), request, since: start)
            return response
        } catch {
            line(" — ", request, since: start)
            throw error
        }
    }

    private func line(_ status: String, _ request: ServiceRequest, since start: ContinuousClock.Instant) {
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        let time = String(format: "%7.1f ms", milliseconds)
        let method = request.method.rawValue.padding(toLength: 5, withPad: " ", startingAt: 0)
        let target = request.target.removingPercentEncoding ?? request.target
        print("  \(status)  \(time)  \(method) \(target.count > 100 ? target.prefix(99) + "…" : target[...])")
    }
}
