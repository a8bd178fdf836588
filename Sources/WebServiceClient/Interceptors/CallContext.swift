/// What an interceptor may know of the call beside the request.
public struct CallContext: Sendable {
    /// Which call it is.
    public var identity: CallIdentity { record.identity }
    /// The attributes of the call's endpoint, the library's and the user's own.
    public var attributes: EndpointAttributes { record.attributes }
    /// The origin that the client's credentials belong to: the service root's; `nil` without one.
    public var serviceOrigin: Origin? { record.serviceOrigin }
    /// Whether the call goes to an absolute URL outside the service root: it carries no credentials and no client headers.
    public var isForeign: Bool { record.isForeign }
    /// What the call's response is to be kept under, with the call's arguments; `nil` where the endpoint says nothing.
    public var cacheIdentifier: String? { record.cacheIdentifier }
    /// Where the library says what it has to say.
    public var diagnostics: Diagnostics { record.diagnostics }
    /// The number of the attempt, from 1; retrying raises it. It counts on over the hops of redirects.
    public var attempt = 1
    /// The number of redirects that were followed so far.
    public var hop = 0
    /// What all copies of this context share: each stage of the chain makes some.
    package let record: CallRecord
    /// The number of the exchange in ``record``.
    var exchange = 0
    /// The dry run that the call is to stop for, if it is one: nothing is sent then.
    var dryRun: DryRun?
    /// Whether the call is a dry run, of which nothing is to be logged or counted.
    package var isDryRun: Bool { dryRun != nil }
    /// What the call itself does to its request.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?

    /// A context; the library makes one for each call, tests make their own.
    public init(
        identity: CallIdentity = CallIdentity(client: "Client", key: "call()", route: "/"),
        attributes: EndpointAttributes = EndpointAttributes(), serviceOrigin: Origin? = nil, isForeign: Bool = false,
        cacheIdentifier: String? = nil, diagnostics: Diagnostics = Diagnostics()
    ) {
        record = CallRecord(
            identity: identity, attributes: attributes, serviceOrigin: serviceOrigin, isForeign: isForeign,
            cacheIdentifier: cacheIdentifier, diagnostics: diagnostics)
    }

    /// A context of a record.
    init(_ record: CallRecord) {
        self.record = record
    }
}
