import Foundation

@testable import WebServiceClient

/// The stage after authentication in a test. It records requests and answers with a closure.
final class StubServer: Sendable {
    typealias Answer = @Sendable (_ request: ServiceRequest, _ number: Int) async throws -> TransportResponse

    private let received = Locked<[ServiceRequest]>([])
    private let answer: Answer

    /// - Parameter answer: Returns the response to a request and its number, starting at 0.
    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    var requests: [ServiceRequest] { received.withLock { $0 } }

    /// The values of the Authorization fields, "-" if missing.
    var authorizations: [String] { requests.map { $0.headers[.authorization] ?? "-" } }

    var next: NextInterceptor {
        { request, _ in
            let number = self.received.withLock {
                $0.append(request)
                return $0.count - 1
            }
            return try await self.answer(request, number)
        }
    }

    /// Sends a request to this server through an authentication stage.
    func send(
        _ request: ServiceRequest = .stub(), _ provider: (any AuthenticationProvider)?, proxy: (any AuthenticationProvider)? = nil,
        context: CallContext = .stub(), opensTunnels: Bool = false
    ) async throws -> TransportResponse {
        try await AuthenticationInterceptor(provider, proxy: proxy, opensTunnels: opensTunnels)
            .intercept(request, context: context, next: next)
    }

    /// Sends a GET request to this server through an authentication stage.
    func send(
        _ provider: any AuthenticationProvider, proxy: (any AuthenticationProvider)? = nil, context: CallContext = .stub()
    ) async throws -> TransportResponse {
        try await send(.stub(), provider, proxy: proxy, context: context)
    }
}

extension ServiceRequest {
    static func stub(_ url: String = "http://api.test/a?b=c", method: Method = .get, body: RequestBody? = nil) -> ServiceRequest {
        ServiceRequest(method: method, url: URL(string: url) ?? URL(fileURLWithPath: "/"), body: body)
    }
}

extension CallContext {
    static func stub(origin: String? = "http://api.test", isForeign: Bool = false, diagnostics: Diagnostics = Diagnostics()) -> CallContext
    {
        CallContext(
            serviceOrigin: origin.flatMap { URL(string: $0) }.flatMap(Origin.init), isForeign: isForeign, diagnostics: diagnostics)
    }
}

extension TransportResponse {
    static func stub(_ status: Int, _ headers: HTTPFields = [:], _ body: ResponseBody = ResponseBody()) -> TransportResponse {
        TransportResponse(status: status, headers: headers, url: URL(fileURLWithPath: "/"), body: body)
    }
}

extension RequestBody {
    /// Returns a body that can be read only once.
    static func once(_ text: String = "body") -> RequestBody {
        RequestBody {
            .init {
                $0.yield(Data(text.utf8)); $0.finish()
            }
        }
    }
}
