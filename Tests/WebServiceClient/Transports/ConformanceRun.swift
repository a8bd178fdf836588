import Testing
import WebServiceClient
import WebServiceTesting

extension TransportConformance {
    /// Runs a case, which must not be left out but for what is named here: a transport that declares less than it did would else pass with
    /// fewer cases.
    ///
    /// - Parameter lacking: what the transport is known not to do.
    func run(_ item: ConformanceCase, lacking: TransportCapabilities = []) async throws {
        guard case .skipped(let reason) = try await check(item) else { return }
        let isKnown = !item.capabilities.isDisjoint(with: lacking)
        // Whatever the transport can do, such a machine hasn't got it.
        let isOfMachine = reason.contains("no IPv6 on this machine") || reason.contains("Only Linux lets")
        #expect(isKnown || isOfMachine, "\(item) was left out: \(reason)")
    }
}
