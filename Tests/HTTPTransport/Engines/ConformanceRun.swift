import HTTPTransport
import Testing
import TransportConformance
import WebServiceTesting

extension TransportConformance {
    /// Runs a case, which must not be left out but for what is named here: a transport that declares less than it did would else pass with
    /// fewer cases.
    ///
    /// - Parameters:
    ///   - lacking: What the transport is known not to do.
    ///   - isProxyless: Whether it is known to take no proxy but from the environment.
    func run(_ item: ConformanceCase, lacking: TransportCapabilities = [], isProxyless: Bool = false) async throws {
        guard case .skipped(let reason) = try await check(item) else { return }
        let isKnown = reason.contains("doesn't declare") && !item.capabilities.isDisjoint(with: lacking)
        // Whatever the transport can do, such a machine hasn't got it. The servers come with the integration tests.
        let isOfMachine = ["no IPv6 on this machine", "Only Linux lets", "There are no TLS servers"].contains(
            where: reason.contains)
        #expect(
            isKnown || isOfMachine || isProxyless && reason.contains("can't make a proxied transport"), "\(item) was left out: \(reason)")
    }
}
