public import Foundation
public import WebServiceClient
import WebServiceTesting

/// One thing that every transport owes its callers, and how to find out whether it keeps it.
///
/// The cases of the library are in ``TransportConformance/cases``. Make more of your own for what your engine promises beyond them:
///
///     ConformanceCase("mine/unix-sockets", "Unix-domain sockets can be reached.") { subject in
///         let response = try await subject.transport.send(…)
///         guard response.status == 200 else { throw TestingFailure("Expected 200, found \(response.status)") }
///     }
public struct ConformanceCase: Sendable, Identifiable, CustomStringConvertible {
    /// Area and name, such as `plain/methods`: by it gaps are declared.
    public let name: String
    /// What is demanded, as a sentence.
    public let demand: String
    /// The capabilities without which the case isn't run: not a byte is then sent.
    public let capabilities: TransportCapabilities

    private let body: @Sendable (ConformanceSubject) async throws -> Void

    /// Makes a case.
    ///
    /// - Parameters:
    ///   - name: area and name, as in `uploads/empty`; one of its own in a list of cases.
    ///   - demand: what is demanded, as a sentence.
    ///   - capabilities: what a transport must declare for the case to be run.
    ///   - run: finds out. It throws a ``TestingFailure``, or anything else, when the transport doesn't keep it.
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

    /// Runs the case on a transport, whatever its capabilities are.
    ///
    /// - Parameter limit: after this time the case has failed, though its task may go on: it is cancelled and left to itself.
    /// - Throws: what is wrong, as a rule a ``TestingFailure``.
    public func run(on subject: ConformanceSubject, within limit: Duration = .seconds(20)) async throws {
        let watch = ConformanceWatch()
        try await watch.run(body, on: subject, within: limit) {
            TestingFailure("\(name) did not end within \(limit): \(demand)")
        }
    }
}

/// Why a case can't be run here, whatever the transport: the machine has no IPv6, for example.
public struct ConformanceSkip: DescribedError, Sendable {
    /// The reason, as a sentence.
    public let description: String

    /// Makes a reason for a case to throw.
    public init(_ description: String) {
        self.description = description
    }
}

/// What a ``ConformanceCase`` examines: a transport, and what is known of it.
public struct ConformanceSubject: Sendable {
    /// The transport.
    public let transport: any Transport
    /// The fields that it may add to requests which don't have them.
    public let addedFields: Set<HTTPFields.Name>
    /// The servers that speak TLS; `nil` where there are none.
    public let servers: ConformanceServers?
    /// Makes a transport like it that goes through the proxy at a URL; `nil` where it can't be told one.
    public let proxied: (@Sendable (_ proxy: URL) throws -> any Transport)?

    /// Makes a subject.
    ///
    /// For the parameters see ``TransportConformance/init(addedFields:knownGaps:fatalGaps:cases:servers:limit:proxied:transport:)``.
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
