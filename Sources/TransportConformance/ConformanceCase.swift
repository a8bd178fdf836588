public import Foundation
public import WebServiceClient
import WebServiceTesting

/// A promise of every transport to its callers, with a check of it.
///
/// The library's cases are in ``TransportConformance/cases``. Make your own for further promises of your engine:
///
///     ConformanceCase("mine/unix-sockets", "Unix-domain sockets can be reached.") { subject in
///         let response = try await subject.transport.send(…)
///         guard response.status == 200 else { throw TestingFailure("Expected 200, found \(response.status)") }
///     }
public struct ConformanceCase: Sendable, Identifiable, CustomStringConvertible {
    /// The area and name, such as `plain/methods`. Gaps are declared by this name.
    public let name: String
    /// The demand, as a sentence.
    public let demand: String
    /// The required capabilities. Without them the case is skipped, and nothing is sent.
    public let capabilities: TransportCapabilities

    private let body: @Sendable (ConformanceSubject) async throws -> Void

    /// Makes a case.
    ///
    /// - Parameters:
    ///   - name: The area and name, as in `uploads/empty`; unique in a list of cases.
    ///   - demand: The demand, as a sentence.
    ///   - capabilities: The capabilities that a transport must declare for the case to run.
    ///   - run: The check. It throws a ``TestingFailure``, or another error, if the transport doesn't meet the demand.
    public init(
        _ name: String, _ demand: String, needing capabilities: TransportCapabilities = [],
        run: @escaping @Sendable (ConformanceSubject) async throws -> Void
    ) {
        self.name = name
        self.demand = demand
        self.capabilities = capabilities
        body = run
    }

    /// The name.
    public var id: String { name }
    /// The name.
    public var description: String { name }

    /// Runs the case on a transport, regardless of its capabilities.
    ///
    /// - Parameter limit: The time after which the case fails. Its task is then cancelled and not awaited.
    /// - Throws: The failure, usually a ``TestingFailure``.
    public func run(on subject: ConformanceSubject, within limit: Duration = .seconds(20)) async throws {
        let watch = ConformanceWatch()
        try await watch.run(body, on: subject, within: limit) {
            TestingFailure("\(name) did not end within \(limit): \(demand)")
        }
    }
}

/// A reason why a case can't run here, regardless of the transport, such as a machine without IPv6.
public struct ConformanceSkip: DescribedError, Sendable {
    /// The reason, as a sentence.
    public let description: String

    /// Makes a skip for a case to throw.
    public init(_ description: String) {
        self.description = description
    }
}

/// The subject of a ``ConformanceCase``: a transport and its environment.
public struct ConformanceSubject: Sendable {
    /// The transport.
    public let transport: any Transport
    /// The fields that the transport may add to requests without them.
    public let addedFields: Set<HTTPFields.Name>
    /// The TLS servers; `nil` if there are none.
    public let servers: ConformanceServers?
    /// Makes a similar transport that uses the proxy at a URL; `nil` if proxies aren't supported.
    public let proxied: (@Sendable (_ proxy: URL) throws -> any Transport)?

    /// Makes a subject.
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
