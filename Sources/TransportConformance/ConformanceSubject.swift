import Foundation
import WebServiceClient
import WebServiceTesting

/// What cases do with their transport again and again.
extension ConformanceSubject {
    /// Sends a request and reads the whole body.
    func exchange(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
        let response = try await transport.send(request)
        return (response, try await response.body.collect(upTo: .max))
    }

    /// Sends a request, and demands the status and the body's text.
    @discardableResult
    func expect(_ status: Int, _ text: String, for request: ServiceRequest, _ what: String = "The response") async throws
        -> TransportResponse
    {
        let (response, body) = try await exchange(request)
        try demand(response.status, is: status, "\(what), status")
        try demand(body, is: Data(text.utf8), "\(what), body")
        return response
    }

    /// Sends a request and reads the whole body, of which one must fail by a ``TransportError`` of one of these codes.
    @discardableResult
    func expect(_ codes: TransportError.Code..., for request: ServiceRequest, _ what: String = "The exchange") async throws
        -> TransportError
    {
        let names = codes.map(\.rawValue).joined(separator: " or ")
        do {
            let (response, body) = try await exchange(request)
            throw TestingFailure("\(what): expected the error \(names), found status \(response.status) and \(body.count) bytes")
        } catch let error as TransportError {
            try demand(codes.contains(error.code), "\(what): expected the error \(names), found \(error)")
            return error
        } catch let failure as TestingFailure {
            throw failure
        } catch {
            throw TestingFailure("\(what): expected a TransportError \(names), found \(type(of: error)): \(error)")
        }
    }

    /// Sends a request that may be answered rightly, or end by a ``TransportError`` of one of these codes, and nothing else.
    func expect(
        _ text: String, or codes: [TransportError.Code], for request: ServiceRequest, _ what: String = "The exchange"
    ) async throws {
        do {
            let (_, body) = try await exchange(request)
            try demand(body, is: Data(text.utf8), "\(what), body")
        } catch let error as TransportError {
            try demand(codes.contains(error.code), "\(what): expected the right body or one of \(codes), found \(error)")
        }
    }
}

/// How a call ended, where only the kind of its end matters.
enum ConformanceEnding: Sendable, Equatable {
    case answered
    case cancelled
    case failed(String)

    /// Waits for a body's end.
    static func of(_ body: () async throws -> Void) async -> ConformanceEnding {
        do {
            try await body()
            return .answered
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed("\(error)")
        }
    }
}

/// Bytes in which no two places look alike, the same on each run.
enum ConformanceBytes {
    static func make(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var bytes = [UInt8](repeating: 0, count: count)
        for index in bytes.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            bytes[index] = UInt8(truncatingIfNeeded: state)
        }
        return Data(bytes)
    }
}

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

extension Certificate {
    /// The certificate of an authority whose key is gone: nobody can be vouched for by it.
    static func conformance() throws -> Certificate {
        let text = """
            -----BEGIN CERTIFICATE-----
            MIIBgzCCASmgAwIBAgIUTQqRw2b9gMriJKtVj7Bnf7SVb5IwCgYIKoZIzj0EAwIw
            FjEUMBIGA1UEAwwLQ29uZm9ybWFuY2UwIBcNMjYxMTI2MDIxNTUwWhgPMjEyNjEx
            MDIwMjE1NTBaMBYxFDASBgNVBAMMC0NvbmZvcm1hbmNlMFkwEwYHKoZIzj0CAQYI
            KoZIzj0DAQcDQgAEeC/iiHCGnULwvdfolIBCn3sa8tsgykhYyRz9YqdaaIYqXsHm
            0SOiToR8zUR/4DvbXilfWbbr1ZOky4NZluRsI6NTMFEwHQYDVR0OBBYEFGPchmCY
            ps1bG4yQ9re14uBom2nlMB8GA1UdIwQYMBaAFGPchmCYps1bG4yQ9re14uBom2nl
            MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAN5vJ9TLC5J8k4Vi
            1gu5hv0CzTDIDLTCls9vBD19aQLCAiB9kN82Iq9SLEGXmP531gC5y+uIfQiQJl4Q
            CiVLxxdGnQ==
            -----END CERTIFICATE-----
            """
        guard let certificate = try Certificate.certificates(in: Data(text.utf8)).first else {
            throw TestingFailure("The suite's own certificate can't be read.")
        }
        return certificate
    }
}

extension CertificatePin {
    /// A pin that no key has.
    static let conformance = CertificatePin.publicKey(sha256: Data(repeating: 0x5A, count: 32))
}
