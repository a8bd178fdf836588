/// Attributes for the calls that a closure makes with one client: the level above the endpoint's own.
///
/// A task-local value carries them to the calls, so a client's methods need no second variant. Inside the chain there are none, so calls that
/// interceptors and providers make don't get them. Calls from a detached task don't either.
struct CallAttributes: Sendable {
    @TaskLocal static var current: CallAttributes?

    private let client: ObjectIdentifier
    private let attributes: EndpointAttributes
    /// The attributes of an outer closure.
    private let outer: [CallAttributes]

    init(client: AnyObject, _ added: [any EndpointAttribute]) {
        let client = ObjectIdentifier(client)
        self.client = client
        var attributes = EndpointAttributes()
        var outer = Self.current.map { [$0] + $0.outer } ?? []
        if let index = outer.firstIndex(where: { $0.client == client }) { attributes = outer.remove(at: index).attributes }
        for attribute in added { attributes.set(attribute) }
        self.attributes = attributes
        self.outer = outer
    }

    /// The attributes of a client's calls; `nil` if there are none.
    func attributes(for client: ObjectIdentifier) -> EndpointAttributes? {
        self.client == client ? attributes : outer.first { $0.client == client }?.attributes
    }
}
