import Foundation
import Testing
import TransportConformance
import WebServiceClient
import WebServiceTesting

/// Which case detects which fault of a transport: a suite that passes any transport with the right answers proves nothing.
@Suite struct ServerFaultsTests {
    /// The cases that don't use a proxy of the suite, which a pretended engine can't call.
    private static let cases = TransportConformance.cases.filter { item in
        let own = [
            "tunnels/asked", "tunnels/refused", "tunnels/challenge", "tunnels/encrypted", "tunnels/no-tls",
            "tunnels/ipv6", "tunnels/silent", "tunnels/through",
        ]
        return ["trust", "pins", "identities", "http2", "tunnels"].contains { item.name.hasPrefix($0 + "/") } && !own.contains(item.name)
    }

    private static func report(_ fault: PretendedEngine.Fault?) async throws -> ConformanceReport {
        let servers = try PretendedEngine.servers()
        let engine = PretendedEngine(servers: servers, fault: fault)
        return await TransportConformance(cases: cases, servers: servers, limit: .seconds(60)) { proxy in
            PretendedEngine(servers: servers, fault: fault, proxy: proxy)
        } transport: {
            engine
        }.run()
    }

    @Test func `a transport that keeps everything passes`() async throws {
        let report = try await Self.report(nil)
        #expect(report.passed.count == Self.cases.count, "\(report)")
    }

    /// The cases that must fail; others may fail as well.
    private static func finders(of fault: PretendedEngine.Fault) -> [String] {
        switch fault {
        case .trustsEverybody: ["trust/expired", "trust/not-yet-valid", "trust/other-host", "trust/unknown-issuer", "trust/faults"]
        case .hasOneErrorForAll: ["trust/expired", "trust/self-signed", "trust/incomplete", "trust/other-authority", "trust/added"]
        case .namesNoHost: ["trust/expired", "trust/faults", "pins/wrong"]
        case .ignoresAuthorities: ["trust/other-authority", "trust/apart"]
        case .ignoresMinimum: ["trust/minimum-version"]
        case .tellsNoTLS: ["trust/metrics"]
        case .ignoresPins: ["pins/wrong", "pins/apart", "tunnels/pins"]
        case .pinsInsteadOfChecking: ["pins/on-top"]
        case .pinsEveryHost: ["pins/other-host"]
        case .tellsNoMismatch: ["pins/wrong"]
        case .sendsFirst: ["trust/faults", "pins/wrong"]
        case .asksOnceOnly: ["trust/apart", "pins/apart", "identities/apart", "identities/locked-apart", "identities/mismatched"]
        case .showsNoIdentity: ["identities/pkcs12", "identities/pem"]
        case .letsAnyIdentityIn: ["identities/none", "identities/other"]
        case .opensAnything: ["identities/locked", "identities/mismatched", "identities/locked-apart"]
        case .tellsPassphrase: ["identities/locked"]
        case .tellsKey: ["identities/mismatched"]
        case .speaksHTTP1: ["http2/negotiated", "http2/head", "http2/shared", "http2/echoed"]
        case .connectsEachTime: ["http2/shared"]
        case .cutsBodies: ["http2/echoed"]
        case .endsOthersToo, .swallowsCancellation: ["http2/cancelled-upload"]
        case .forgetsPinsInTunnels: ["tunnels/pins"]
        case .opensTunnelsForAll, .sharesTunnels, .marksNoRefusal: ["tunnels/apart"]
        }
    }

    @Test(arguments: PretendedEngine.Fault.allCases) func `each fault is found`(_ fault: PretendedEngine.Fault) async throws {
        let failed = try await Self.report(fault).failed.map(\.conformanceCase.name)
        #expect(Set(failed).isSuperset(of: Self.finders(of: fault)), "\(fault): \(failed)")
    }
}
