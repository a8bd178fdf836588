public import Foundation
public import WebServiceClient
import WebServiceTesting

/// A suite that checks every promise of a transport to its callers, for the library's transports and for yours.
///
///     let suite = TransportConformance(knownGaps: ["fields/response-apart": "The engine joins fields of one name."]) { MyTransport() }
///     let report = await suite.run()
///     print(report)
///
/// Most cases send their requests to their own ``LoopbackServer``, which shows the fault under test; most of those over TLS, and some on
/// tunnels, to ``ConformanceServers`` that you provide. A case is skipped, without sending anything, if the transport doesn't declare a
/// capability that it needs. It is also skipped if a server, `proxied` or a feature of the machine is missing. Known gaps of the transport
/// can be declared. A known gap that passes is a failure, so that no declaration outlives its reason.
///
/// With Swift Testing, each case becomes a separate test:
///
///     @Test(.serialized, arguments: TransportConformance.cases)
///     func conforms(_ item: ConformanceCase) async throws { try await suite.check(item) }
public struct TransportConformance: Sendable {
    /// The fields that a transport may add by default: `Accept`, `Accept-Encoding`, `Connection`, `User-Agent`.
    ///
    /// `Host`, `Content-Length` and `Transfer-Encoding` are always allowed, and `Content-Type` as `application/octet-stream` for a body
    /// without a type.
    public static let usualAddedFields: Set<HTTPFields.Name> = [.accept, .acceptEncoding, "Connection", .userAgent]

    /// The cases to run.
    public let cases: [ConformanceCase]
    /// The names of cases that are known to fail, with the reason.
    public let knownGaps: [String: String]

    /// The names of cases that aren't run because their failure ends or hangs the process, with the reason.
    public let fatalGaps: [String: String]

    private let addedFields: Set<HTTPFields.Name>
    private let servers: ConformanceServers?
    private let proxied: (@Sendable (_ proxy: URL) throws -> any Transport)?
    private let limit: Duration
    private let makeTransport: @Sendable () throws -> any Transport

    /// Makes a suite.
    ///
    /// - Parameters:
    ///   - addedFields: The fields that the transport is documented to add to requests without them.
    ///   - knownGaps: The names of cases that are known to fail, with the reason.
    ///   - fatalGaps: The names of cases whose failure would end the process, or hang it, with the reason. They are listed as gaps without
    ///     being run, so a gap that is fixed isn't noticed: check them with each new version of the engine.
    ///   - cases: The cases to run, by default all of the library's.
    ///   - servers: The TLS servers. Without them, the cases that need one are skipped.
    ///   - limit: The time after which a case counts as hanging. Raise it on slow machines, and under sanitizers.
    ///   - proxied: Makes a transport like the others that uses the proxy at a URL. Without it, the cases on proxies are skipped. It may be
    ///     called several times for a case.
    ///   - transport: Makes a transport for each case, or returns the same one each time.
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

    /// Runs the cases one after the other and returns a report.
    ///
    /// When the task is cancelled, the remaining cases that would run and aren't known gaps fail with `CancellationError`.
    public func run() async -> ConformanceReport {
        var entries: [ConformanceReport.Entry] = []
        for item in cases {
            let start = ContinuousClock.now
            let outcome = await outcome(of: item)
            entries.append(.init(conformanceCase: item, outcome: outcome, duration: .now - start))
        }
        for name in unknownGaps {
            let item = ConformanceCase(name, "Every declared gap names a case of the suite.") { _ in }
            entries.append(.init(conformanceCase: item, outcome: .failed(Self.sentence(unknownGap: name)), duration: .zero))
        }
        return ConformanceReport(entries: entries)
    }

    /// Runs one case, for test frameworks with a test for each.
    ///
    /// - Returns: Passed, skipped or a known gap.
    /// - Throws: ``TestingFailure`` if the case fails, passes although it is declared as a gap, or if a declared gap names no case of the
    ///   suite.
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
        "“\(name)” is declared in knownGaps or fatalGaps, but no case has that name: remove or correct it."
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
        return .failed("It passes although it is declared as a known gap (\(gap)): remove it from the known gaps.")
    }
}

extension TransportConformance {
    /// All cases of the library. Their names identify gaps and stay stable.
    public static let cases: [ConformanceCase] = [
        PlainCases.all, FieldCases.all, TargetCases.all, RestraintCases.all, InterimCases.all, UploadCases.all, UploadFailureCases.all,
        DownloadCases.all, TruncationCases.all, MalformedCases.all, ConnectionCases.all, RepetitionCases.all, IdleCases.all,
        DeadlineCases.all, UploadDeadlineCases.all, CancellationCases.all, CompressionCases.all, PolicyCases.all, TrustCases.all,
        PinCases.all, IdentityCases.all, HTTP2Cases.all, ProxyCases.all, TunnelCases.all,
    ].flatMap { $0 }
}
