public import Foundation
public import WebServiceClient
import WebServiceTesting

/// The suite of everything that a transport owes its callers, for the library's own transports and for yours.
///
///     let suite = TransportConformance(knownGaps: ["fields/response-apart": "The engine joins fields of one name."]) { MyTransport() }
///     let report = await suite.run()
///     print(report)
///
/// Most cases send their requests to a ``LoopbackServer`` of their own, with the fault that they are about; those on certificates, HTTP/2 and
/// tunnels to ``ConformanceServers`` that you bring. A case which needs a capability that the transport doesn't declare, or a server that isn't
/// there, is skipped before anything is sent. What the transport is known not to keep can be declared; a gap that isn't there any more is a
/// failure, so that no declaration outlives its reason.
///
/// With Swift Testing, each case becomes a test of its own:
///
///     @Test(.serialized, arguments: TransportConformance.cases)
///     func conforms(_ item: ConformanceCase) async throws { try await suite.check(item) }
public struct TransportConformance: Sendable {
    /// The fields that a transport may add without further ado: `Accept`, `Accept-Encoding`, `Connection`, `User-Agent`.
    ///
    /// `Host`, `Content-Length` and `Transfer-Encoding` are the transport's own in any case, and `Content-Type` may say
    /// `application/octet-stream` where a body has no type.
    public static let usualAddedFields: Set<HTTPFields.Name> = [.accept, .acceptEncoding, "Connection", .userAgent]

    /// The cases to run.
    public let cases: [ConformanceCase]
    /// The names of cases that are known to fail, with the reason.
    public let knownGaps: [String: String]

    /// The names of cases that aren't run, since failing them ends the process, with the reason.
    public let fatalGaps: [String: String]

    private let addedFields: Set<HTTPFields.Name>
    private let servers: ConformanceServers?
    private let proxied: (@Sendable (_ proxy: URL) throws -> any Transport)?
    private let limit: Duration
    private let makeTransport: @Sendable () throws -> any Transport

    /// Makes a suite.
    ///
    /// - Parameters:
    ///   - addedFields: the fields that the transport is documented to add to requests which don't have them.
    ///   - knownGaps: the names of cases that are known to fail, with the reason.
    ///   - fatalGaps: the names of cases whose failure would end the process, or hang it, with the reason. They are listed as gaps without
    ///     being run, so nobody finds out when they aren't gaps any more: look at them again with each new version of the engine.
    ///   - cases: the cases to run, by default all of the library's.
    ///   - servers: the servers that speak TLS. Without them the cases that need one are skipped.
    ///   - limit: how long a case may take before it counts as hanging. Raise it on slow machines, and under sanitizers.
    ///   - proxied: makes a transport like the others that goes through the proxy at a URL. Without it the cases on proxies are skipped. It may be called several
    ///     times for a case.
    ///   - transport: makes a transport for each case, or gives the same one each time: the cases bear both.
    public init(
        addedFields: Set<HTTPFields.Name> = Self.usualAddedFields, knownGaps: [String: String] = [:],
        fatalGaps: [String: String] = [:], cases: [ConformanceCase] = Self.cases, servers: ConformanceServers? = nil,
        limit: Duration = .seconds(20), proxied: (@Sendable (_ proxy: URL) throws -> any Transport)? = nil,
        transport: @escaping @Sendable () throws -> any Transport
    ) {
        self.addedFields = addedFields
        self.knownGaps = knownGaps
        self.fatalGaps = fatalGaps
        self.cases = cases
        self.servers = servers
        self.proxied = proxied
        self.limit = limit
        makeTransport = transport
    }

    /// Runs one case after the other and tells of all.
    ///
    /// When the task is cancelled, the cases that are left fail with `CancellationError`.
    public func run() async -> ConformanceReport {
        var entries: [ConformanceReport.Entry] = []
        for item in cases {
            let start = ContinuousClock.now
            let outcome = await outcome(of: item)
            entries.append(.init(conformanceCase: item, outcome: outcome, duration: .now - start))
        }
        for name in unknownGaps {
            let item = ConformanceCase(name, "A known gap is one of a case.") { _ in }
            entries.append(.init(conformanceCase: item, outcome: .failed(Self.sentence(unknownGap: name)), duration: .zero))
        }
        return ConformanceReport(entries: entries)
    }

    /// Runs one case, for a test framework that has a test for each.
    ///
    /// - Returns: passed, skipped or a known gap.
    /// - Throws: ``TestingFailure`` when the case failed, passed though it is declared as a gap, or when a gap is declared of which
    ///   the suite has no case.
    @discardableResult
    public func check(_ item: ConformanceCase) async throws -> ConformanceReport.Outcome {
        if let name = unknownGaps.first { throw TestingFailure(Self.sentence(unknownGap: name)) }
        let outcome = await outcome(of: item)
        guard case .failed(let sentence) = outcome else { return outcome }
        throw TestingFailure("\(item.name): \(sentence)\nDemanded: \(item.demand)")
    }

    private var unknownGaps: [String] {
        (Array(knownGaps.keys) + fatalGaps.keys).filter { name in !cases.contains { $0.name == name } }.sorted()
    }

    private static func sentence(unknownGap name: String) -> String {
        "“\(name)” is declared as a known gap, and there is no case of that name: take it out or correct it."
    }

    private func outcome(of item: ConformanceCase) async -> ConformanceReport.Outcome {
        if let reason = fatalGaps[item.name] { return .gap("Not run: " + reason) }
        let gap = knownGaps[item.name]
        do {
            let transport = try makeTransport()
            let missing = item.capabilities.subtracting(transport.capabilities)
            guard missing.isEmpty else {
                return .skipped("The transport doesn't declare " + missing.descriptions.joined(separator: ", ") + ".")
            }
            let subject = ConformanceSubject(transport: transport, addedFields: addedFields, servers: servers, proxied: proxied)
            try await item.run(on: subject, within: limit)
        } catch let skip as ConformanceSkip {
            return .skipped(skip.description)
        } catch {
            return gap.map { .gap($0) } ?? .failed("\(error)")
        }
        guard let gap else { return .passed }
        return .failed("It passes, though it is declared as a known gap (\(gap)): take it out of the known gaps.")
    }
}

extension TransportConformance {
    /// All cases of the library. Their names are what gaps are declared by, and stay as they are.
    public static let cases: [ConformanceCase] = [
        PlainCases.all, FieldCases.all, TargetCases.all, RestraintCases.all, InterimCases.all, UploadCases.all, UploadFailureCases.all,
        DownloadCases.all, TruncationCases.all, MalformedCases.all, ConnectionCases.all, RepetitionCases.all, IdleCases.all,
        DeadlineCases.all, UploadDeadlineCases.all, CancellationCases.all, CompressionCases.all, PolicyCases.all, TrustCases.all,
        PinCases.all, IdentityCases.all, HTTP2Cases.all, ProxyCases.all, TunnelCases.all,
    ].flatMap { $0 }
}
