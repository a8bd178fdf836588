public import WebServiceClient
import WebServiceTesting

/// A requirement that every transport must meet, with its check.
///
/// The library's cases are in ``TransportConformance/cases``. Create your own cases for further features of your transport:
///
///     ConformanceCase("mine/unix-sockets", "Unix-domain sockets can be reached.") { subject in
///         let response = try await subject.transport.send(…)
///         guard response.status == 200 else { throw TestingFailure("Expected 200, found \(response.status)") }
///     }
public struct ConformanceCase: Sendable, Identifiable, CustomStringConvertible {
    /// The area and name, such as `plain/methods`. A transport's known gaps are listed by this name.
    public let name: String
    /// The requirement on the transport, as a sentence.
    public let demand: String
    /// The capabilities that a transport must declare for the case to run. If it lacks one, the case is skipped and sends nothing.
    public let capabilities: TransportCapabilities

    private let body: @Sendable (ConformanceSubject) async throws -> Void

    /// Creates a case.
    ///
    /// - Parameters:
    ///   - name: The area and name, as in `uploads/empty`; unique in a list of cases.
    ///   - demand: The requirement on the transport, as a sentence.
    ///   - capabilities: The capabilities that a transport must declare for the case to run.
    ///   - run: The check. It throws a ``TestingFailure`` or another error if the transport doesn't meet the requirement.
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

/// An error that skips a case that can't run on this machine with any transport, for example because the machine has no IPv6.
public struct ConformanceSkip: DescribedError, Sendable {
    /// The reason for skipping the case, as a sentence.
    public let description: String

    /// Creates an error that a case throws to be skipped.
    public init(_ description: String) {
        self.description = description
    }
}
