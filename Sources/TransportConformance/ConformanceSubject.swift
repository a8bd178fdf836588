public import Foundation
public import WebServiceClient
import WebServiceTesting

/// The subject of a ``ConformanceCase``: a transport and its environment.
public struct ConformanceSubject: Sendable {
    /// The transport.
    public let transport: any Transport
    /// The names of the header fields that the transport may add to requests that don't have them.
    public let addedFields: Set<HTTPFields.Name>
    /// The TLS servers for the cases that need them; `nil` if there are none.
    public let servers: ConformanceServers?
    /// Returns a transport with the same settings that uses the proxy at a URL; `nil` if the transport doesn't support proxies.
    public let proxied: (@Sendable (_ proxy: URL) throws -> any Transport)?

    /// Creates a subject.
    ///
    /// For the parameters, see ``TransportConformance/init(addedFields:knownGaps:fatalGaps:cases:servers:limit:proxied:transport:)``.
    public init(
        transport: any Transport, addedFields: Set<HTTPFields.Name> = TransportConformance.usualAddedFields,
        servers: ConformanceServers? = nil, proxied: (@Sendable (_ proxy: URL) throws -> any Transport)? = nil
    ) {
        self.transport = transport
        self.addedFields = addedFields
        self.servers = servers
        self.proxied = proxied
    }
}

/// Helpers for all cases.
extension ConformanceSubject {
    /// Sends a request and reads the whole body.
    func exchange(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
        let response = try await transport.send(request)
        return (response, try await response.body.collect(upTo: .max))
    }

    /// Sends a request and demands the status and the text of the body.
    @discardableResult
    func expect(_ status: Int, _ text: String, for request: ServiceRequest, _ what: String = "The response") async throws
        -> TransportResponse
    {
        let (response, body) = try await exchange(request)
        try demand(response.status, is: status, "\(what), status")
        try demand(body, is: Data(text.utf8), "\(what), body")
        return response
    }

    /// Sends a request and reads the whole body. Demands that one of them fails with a ``TransportError`` of one of these codes.
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

    /// Sends a request. Demands the right body or a ``TransportError`` of one of these codes.
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

/// How a call ended, as far as cases need to know.
enum ConformanceEnding: Sendable, Equatable {
    case answered
    case cancelled
    case failed(String)

    /// Runs a closure and returns how it ended.
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

/// Bytes without repetitions, the same on each run.
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

/// Helpers for cases with TLS servers.
extension ConformanceSubject {
    /// Returns the servers. Skips the case if there are none.
    func needServers() throws -> ConformanceServers {
        guard let servers else { throw ConformanceSkip("There are no TLS servers: pass ConformanceServers to the suite.") }
        guard !servers.chain.isEmpty, servers.secure.host()?.isEmpty == false else {
            throw TestingFailure("ConformanceServers: secure needs a host, and chain its certificates up to the root")
        }
        return servers
    }

    /// Returns an optional property of the servers. Skips the case if it is missing.
    func need<Value>(_ path: KeyPath<ConformanceServers, Value?>, _ name: String) throws -> Value {
        guard let value = try needServers()[keyPath: path] else {
            throw ConformanceSkip("The TLS servers lack ConformanceServers.\(name).")
        }
        return value
    }

    /// Returns a transport through a proxy. Skips the case if the suite can't make one.
    func through(_ proxy: URL) throws -> ConformanceSubject {
        guard let proxied else { throw ConformanceSkip("The suite can't make a proxied transport: pass `proxied` to it.") }
        return ConformanceSubject(transport: try proxied(proxy), addedFields: addedFields, servers: servers, proxied: nil)
    }

    /// The minimal trust in the servers' authority; the default policy for a transport that doesn't support authorities.
    func trust() throws -> TrustPolicy {
        guard transport.capabilities.contains(.ownCertificateAuthorities), let root = try needServers().chain.last else {
            return TrustPolicy()
        }
        return TrustPolicy(authorities: .only([root]))
    }

    /// Returns a request to one of the servers that trusts their authority, with a change of that policy.
    func request(
        _ url: URL, _ method: ServiceRequest.Method = .get, body: RequestBody? = nil, _ change: (inout TrustPolicy) -> Void = { _ in }
    ) throws -> ServiceRequest {
        var trust = try trust()
        change(&trust)
        var request = ServiceRequest(method: method, url: url, body: body)
        request.trust = trust
        return request
    }

    /// Sends a request and demands status 200.
    ///
    /// A server may close a kept connection at any time: a request without a body is then sent again, as in a client's chain.
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

    /// Sends a request that must fail with this code. The message must name the host, so that readers know which certificate is meant.
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
    /// The certificate of an authority whose key is deleted, so it can't sign any certificate.
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
    /// A pin that matches no key.
    static let conformance = CertificatePin.publicKey(sha256: Data(repeating: 0x5A, count: 32))
}
