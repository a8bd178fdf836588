import Foundation
import TestSupport
import WebServiceClient

@testable import TransportConformance
@testable import WebServiceTesting

/// A transport that meets all demands of the cases with servers without calling any: from a URL it knows how that server would end the
/// handshake. One demand can be disabled, which the cases must detect.
struct PretendedEngine: Transport {
    /// The demand that it doesn't meet.
    enum Fault: CaseIterable {
        case trustsEverybody, hasOneErrorForAll, namesNoHost, ignoresAuthorities, ignoresMinimum, tellsNoTLS
        case ignoresPins, pinsInsteadOfChecking, pinsEveryHost, tellsNoMismatch, sendsFirst, asksOnceOnly
        case showsNoIdentity, letsAnyIdentityIn, opensAnything, tellsPassphrase, tellsKey
        case speaksHTTP1, connectsEachTime, cutsBodies, endsOthersToo, swallowsCancellation
        case forgetsPinsInTunnels, opensTunnelsForAll, sharesTunnels, marksNoRefusal
    }

    let servers: ConformanceServers
    let fault: Fault?
    var proxy: URL?
    /// The servers that it has accepted, which stay accepted with a fault, and the open tunnel.
    let passed = Locked<Set<URL>>([])

    var capabilities: TransportCapabilities {
        [
            .pinning, .clientCertificates, .clientCertificatesInPEM, .ownCertificateAuthorities, .minimumTLSVersion, .http2,
            .proxyAuthentication, .metrics,
        ]
    }

    /// Servers that must not be called, distinguished by their ports.
    static func servers() throws -> ConformanceServers {
        func url(_ port: Int) throws -> URL {
            guard let url = URL(string: "https://127.0.0.1:\(port)/") else { throw TestingFailure("No URL") }
            return url
        }
        var servers = ConformanceServers(
            secure: try url(1), chain: [try SampleCertificate.certificate()], otherAuthority: try .conformance())
        servers.expired = try url(2)
        servers.notYetValid = try url(3)
        servers.otherHost = try url(4)
        servers.unknownIssuer = try url(5)
        servers.selfSigned = try url(6)
        servers.incomplete = try url(7)
        servers.oldTLS = try url(8)
        servers.wantingIdentity = try url(9)
        servers.echo = servers.secure
        servers.answeringEarly = servers.secure
        let (chain, key) = (Data(SampleCertificate.pem.utf8), Data(SampleCertificate.key.utf8))
        let pkcs12 = Data([0x30, 0x06, 0x02, 0x01, 0x03, 0x30, 0x00, 0x00])
        servers.identity = try .pkcs12(pkcs12, passphrase: "right")
        servers.identityInPEM = try .pem(chain: chain, key: key)
        servers.otherIdentity = try .pkcs12(pkcs12 + [1], passphrase: "right")
        servers.lockedIdentity = try .pkcs12(pkcs12, passphrase: "wrong-passphrase")
        servers.mismatchedIdentity = try .pem(chain: chain, key: key, passphrase: "mismatched")
        servers.proxy = URL(string: "http://127.0.0.1:10")
        servers.challengingProxy = URL(string: "http://127.0.0.1:11")
        servers.proxyCredentials = "Basic YTpi"
        return servers
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let policy = request.trust ?? TrustPolicy()
        try policy.check(capabilities, callTo: request.origin)
        if request.url.scheme == "http" {
            return try await DefaultTransport.shared.send(
                ServiceRequest(method: request.method, url: request.url, headers: request.headers, body: request.body))
        }
        if fault == .sendsFirst { request.uploadProgress?(TransferProgress(completed: 1, total: nil)) }
        if let refusal = refusal(to: request) { return refusal }
        let isOpen = passed.withLock { !$0.insert(request.url).inserted }
        do {
            if !(fault == .asksOnceOnly && isOpen) { try shakeHands(request.url, policy) }
        } catch {
            // A failed connection isn't open.
            if !isOpen { passed.withLock { _ = $0.remove(request.url) } }
            throw error
        }
        if request.url == servers.wantingIdentity, let refusal = try refusal(of: policy.identity, isOpen: isOpen, request) {
            return refusal
        }
        return try await answer(request, isOpen: isOpen)
    }

    /// Returns the proxy's response in place of a tunnel.
    private func refusal(to request: ServiceRequest) -> TransportResponse? {
        guard let proxy, proxy == servers.challengingProxy, fault != .opensTunnelsForAll else { return nil }
        if request.headers["Proxy-Authorization"] == servers.proxyCredentials { return nil }
        if fault == .sharesTunnels, passed.withLock({ $0.contains(request.url) }) { return nil }
        var response = TransportResponse(status: 407, url: request.url)
        response.isTunnelRefusal = fault != .marksNoRefusal
        return response
    }

    // MARK: The handshake

    private func shakeHands(_ url: URL, _ policy: TrustPolicy) throws {
        let isPinnedOnly = fault == .pinsInsteadOfChecking && !policy.pins.isEmpty
        let isLax = fault == .trustsEverybody || isPinnedOnly
        if !isLax {
            let codes: [URL?: TransportError.Code] = [
                servers.expired: .certificateExpired, servers.notYetValid: .certificateNotYetValid,
                servers.otherHost: .certificateForOtherHost, servers.unknownIssuer: .unknownIssuer, servers.selfSigned: .unknownIssuer,
                servers.incomplete: .unknownIssuer,
            ]
            if let code = codes[url] { throw error(code) }
            let known = [servers.secure, servers.oldTLS, servers.wantingIdentity]
            guard known.contains(url) else { throw error(.tls) }
            if fault != .ignoresAuthorities, !servers.chain.contains(where: policy.authorities.certificates.contains) {
                throw error(.unknownIssuer)
            }
        }
        if url == servers.oldTLS, policy.minimumTLSVersion == .tlsv13, fault != .ignoresMinimum { throw error(.tls) }
        guard fault != .ignoresPins, !(fault == .forgetsPinsInTunnels && proxy != nil) else { return }
        let host = fault == .pinsEveryHost ? policy.pins.keys.first?.description ?? "" : url.host() ?? ""
        do throws(PinMismatch) {
            try PinCheck.check(host: host, chain: servers.chain, policy: policy)
        } catch {
            guard fault != .tellsNoMismatch else { throw self.error(.pinMismatch) }
            throw TransportError(.pinMismatch, fault == .namesNoHost ? "No pin." : error.description, underlying: error)
        }
    }

    private func error(_ code: TransportError.Code) -> TransportError {
        TransportError(fault == .hasOneErrorForAll ? .tls : code, "No secure connection\(fault == .namesNoHost ? "" : " to 127.0.0.1").")
    }

    // MARK: The client's identity

    private func refusal(of identity: ClientIdentity?, isOpen: Bool, _ request: ServiceRequest) throws -> TransportResponse? {
        let known = [servers.identity, servers.identityInPEM]
        if let identity, known.contains(identity), fault != .showsNoIdentity { return nil }
        if fault == .letsAnyIdentityIn || fault == .asksOnceOnly && isOpen { return nil }
        guard let identity, identity != servers.otherIdentity, !known.contains(identity) else {
            return TransportResponse(status: 400, url: request.url)
        }
        if fault == .opensAnything { return TransportResponse(status: 400, url: request.url) }
        let secret = fault == .tellsPassphrase ? identity.passphrase ?? "" : fault == .tellsKey ? SampleCertificate.key : ""
        throw TransportError(.clientCertificate, "The identity can't be used \(secret).")
    }

    // MARK: The exchange

    private func answer(_ request: ServiceRequest, isOpen: Bool) async throws -> TransportResponse {
        let data: Data
        do {
            data = try await body(of: request)
        } catch is CancellationError where fault == .swallowsCancellation {
            data = Data()
        } catch {
            if fault == .endsOthersToo { passed.withLock { $0 = [request.url.appending(path: "broken")] } }
            throw error
        }
        if fault == .endsOthersToo, passed.withLock({ $0.contains(request.url.appending(path: "broken")) }) {
            throw TransportError(.connectionLost, "Another exchange was cancelled.")
        }
        request.uploadProgress?(TransferProgress(completed: Int64(data.count), total: nil))
        var metrics = ExchangeMetrics()
        metrics.isConnectionReused = isOpen && fault != .connectsEachTime
        metrics.tlsVersion = fault == .tellsNoTLS ? nil : "TLSv1.3"
        (metrics.connect, metrics.secureConnect, metrics.firstByte) = (.milliseconds(1), .milliseconds(2), .milliseconds(3))
        let told = metrics
        return TransportResponse(
            status: 200, url: request.url, body: ResponseBody(fault == .cutsBodies ? Data(data.dropLast()) : data),
            httpVersion: fault == .speaksHTTP1 ? "HTTP/1.1" : "HTTP/2", report: ExchangeReport(metrics: { told }))
    }

    private func body(of request: ServiceRequest) async throws -> Data {
        guard let body = request.body else { return Data() }
        if let data = body.data { return data }
        guard case .stream(let open) = body.source else { return Data() }
        var data = Data()
        for try await piece in open() { data += piece }
        return data
    }
}
