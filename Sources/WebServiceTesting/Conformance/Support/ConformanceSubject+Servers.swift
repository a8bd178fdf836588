import Foundation
import WebServiceClient

/// What cases do with the servers that speak TLS.
extension ConformanceSubject {
    /// The servers; without any the case is skipped.
    func needServers() throws -> ConformanceServers {
        guard let servers else { throw ConformanceSkip("There are no servers that speak TLS: give the suite ConformanceServers.") }
        guard !servers.chain.isEmpty, servers.secure.host()?.isEmpty == false else {
            throw TestingFailure("ConformanceServers: secure needs a host, and chain its certificates up to the root")
        }
        return servers
    }

    /// One of what the servers may have; without it the case is skipped.
    func need<Value>(_ path: KeyPath<ConformanceServers, Value?>, _ name: String) throws -> Value {
        guard let value = try needServers()[keyPath: path] else {
            throw ConformanceSkip("The servers that speak TLS lack one: ConformanceServers.\(name).")
        }
        return value
    }

    /// A transport through a proxy; where there is no way to make one the case is skipped.
    func through(_ proxy: URL) throws -> ConformanceSubject {
        guard let proxied else { throw ConformanceSkip("The transport can't be told a proxy: give the suite a way to make one that can.") }
        return ConformanceSubject(transport: try proxied(proxy), addedFields: addedFields, servers: servers, proxied: nil)
    }

    /// The least trust that the servers' authority needs: none for a transport that can't be told.
    func trust() throws -> TrustPolicy {
        guard transport.capabilities.contains(.ownCertificateAuthorities), let root = try needServers().chain.last else {
            return TrustPolicy()
        }
        return TrustPolicy(authorities: .only([root]))
    }

    /// A request to one of the servers that trusts their authority, with what is to be changed of that.
    func request(
        _ url: URL, _ method: ServiceRequest.Method = .get, body: RequestBody? = nil, _ change: (inout TrustPolicy) -> Void = { _ in }
    ) throws -> ServiceRequest {
        var trust = try trust()
        change(&trust)
        var request = ServiceRequest(method: method, url: url, body: body)
        request.trust = trust
        return request
    }

    /// Sends a request, and demands that it is answered with 200.
    ///
    /// A server may close a kept connection whenever it likes: then a request without a body is sent again, as a client's chain does.
    @discardableResult
    func expectAnswer(to request: ServiceRequest, _ what: String = "The response") async throws -> TransportResponse {
        for _ in 0..<3 where request.body == nil {
            do { return try await answer(to: request, what) } catch let error as TransportError where error.isConnectionStale {}
        }
        return try await answer(to: request, what)
    }

    private func answer(to request: ServiceRequest, _ what: String) async throws -> TransportResponse {
        let (response, _) = try await exchange(request)
        try demand(response.status, is: 200, "\(what), status")
        return response
    }

    /// Sends a request, which must fail by that code, in words that name the host: who reads them must know which certificate is meant.
    @discardableResult
    func expectRefusal(_ code: TransportError.Code, of request: ServiceRequest, _ what: String = "The exchange") async throws
        -> TransportError
    {
        let error = try await expect(code, for: request, what)
        try demand(error.isTrustFailure, "\(what): \(code) doesn't count as a failure of trust")
        let host = request.url.host()?.trimmingCharacters(in: ["[", "]"]) ?? ""
        try demand(!host.isEmpty && error.message.contains(host), "\(what): the message “\(error.message)” doesn't name the host")
        return error
    }
}
