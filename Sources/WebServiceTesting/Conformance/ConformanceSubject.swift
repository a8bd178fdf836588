public import Foundation
public import WebServiceClient

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
