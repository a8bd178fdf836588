public import WebServiceClient

/// What a ``ConformanceCase`` examines: a transport, and what is known of it.
public struct ConformanceSubject: Sendable {
    /// The transport.
    public let transport: any Transport
    /// The fields that it may add to requests which don't have them.
    public let addedFields: Set<HTTPFields.Name>

    /// Makes a subject.
    ///
    /// - Parameter addedFields: see ``TransportConformance/init(addedFields:knownGaps:fatalGaps:cases:limit:transport:)``.
    public init(transport: any Transport, addedFields: Set<HTTPFields.Name> = TransportConformance.usualAddedFields) {
        self.transport = transport
        self.addedFields = addedFields
    }
}
