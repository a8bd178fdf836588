import Foundation
import HTTPTransport
import Testing
import TransportConformance
import WebServiceTesting

/// What libcurl keeps of what a transport owes, and what is known not to hold.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct CurlConformanceTests {
    private static let suite = TransportConformance(limit: .seconds(300), proxied: CurlTransport.through) {
        try CurlTransport()
    }

    /// What libcurl can't do by its version and its features, whatever the transport makes of them.
    private static let lacking: TransportCapabilities = {
        guard let library = try? CurlLibrary.open() else { return [] }
        var lacking: TransportCapabilities = []
        if !library.features.contains(.http2) { lacking.insert(.http2) }
        if !library.features.contains(.ipv6) { lacking.insert(.ipv6Literals) }
        if library.versionNumber < 0x07_50_00 { lacking.formUnion([.connectDeadlines, .proxyAuthentication]) }
        return lacking
    }()

    @Test(.atOnce(8), arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.run(item, lacking: Self.lacking)
    }

    #if os(Linux)
    @Test(.atOnce(8), arguments: TransportConformance.cases)
    func `conforms where its callers' tasks run on its own thread`(_ item: ConformanceCase) async throws {
        let transport = try CurlTransport()
        let suite = TransportConformance(limit: .seconds(300), proxied: CurlTransport.through) { transport }
        _ = try await withTaskExecutorPreference(transport.taskExecutor) { try await suite.run(item, lacking: Self.lacking) }
    }
    #endif
}

extension CurlTransport {
    /// A transport that goes through a proxy.
    @Sendable fileprivate static func through(_ proxy: URL) throws -> any Transport {
        var configuration = Configuration()
        configuration.proxy = .url(proxy)
        return try CurlTransport(configuration: configuration)
    }
}
