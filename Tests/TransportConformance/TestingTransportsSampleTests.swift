import Foundation
import TestSupport
import Testing
import TransportConformance
import WebServiceClient
import WebServiceTesting

/// The samples of the article "Testing Transports" that aren't tests themselves.
@Suite struct TestingTransportsSampleTests {
    private struct MyTransport: Transport {
        var proxy: URL?
        let capabilities: TransportCapabilities = [.streamingUploads]

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            try request.checkTrust(capabilities)
            guard request.timeouts.connect == nil else { throw TransportError(.unsupported, "There is no deadline for connecting here.") }
            let (status, headers, data) = (200, HTTPFields(), Data())
            return TransportResponse(status: status, headers: headers, url: request.url, body: ResponseBody(data))
        }
    }

    private static let suite = TransportConformance { MyTransport() }

    /// It answers everything itself; these cases are about its refusals.
    @Test(
        .serialized,
        arguments: TransportConformance.cases.filter {
            ["trust/undeclared", "trust/faulty", "deadlines/connect-refused"].contains($0.name)
        })
    func conforms(_ item: ConformanceCase) async throws {
        if case .skipped(let reason) = try await Self.suite.check(item) { Issue.record("skipped \(item): \(reason)") }
    }

    private func suite(_ files: [URL], _ secure: URL, expired: URL, wantingIdentity: URL, identityFile: URL) throws -> TransportConformance
    {
        let (leafFile, intermediateFile, rootFile, otherRootFile) = (files[0], files[1], files[2], files[3])
        let chain = try [leafFile, intermediateFile, rootFile].map { try Certificate(file: $0) }
        var servers = ConformanceServers(secure: secure, chain: chain, otherAuthority: try Certificate(file: otherRootFile))
        servers.expired = expired
        servers.wantingIdentity = wantingIdentity
        servers.identity = try .pkcs12(file: identityFile, passphrase: "changeit")
        let suite = TransportConformance(servers: servers) { MyTransport() }
        return suite
    }

    @Test func `servers are described by their files, of which one that can't be read is an error`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "certificate.pem", directoryHint: .notDirectory)
        try Data(SampleCertificate.pem.utf8).write(to: file)
        let url = try #require(URL(string: "https://127.0.0.1:9/"))
        let missing = folder.appending(path: "none.p12", directoryHint: .notDirectory)
        let error = #expect(throws: CertificateError.self) {
            _ = try suite([file, file, file, file], url, expired: url, wantingIdentity: url, identityFile: missing)
        }
        #expect(error?.message.contains("none.p12") == true)
    }

    @Test func `proxies are given to a closure`() async throws {
        let suite = TransportConformance(proxied: { proxy in MyTransport(proxy: proxy) }) { MyTransport() }
        let item = try #require(suite.cases.first { $0.name == "proxies/plain" })
        // It sends nothing.
        await #expect(throws: TestingFailure.self) { try await suite.check(item) }
    }
}
