/// A reference to a service of a ``ServiceLocator`` that retains neither the service nor the locator.
///
/// It breaks cycles: if two services need each other, one gets the other as a `WeakService` and resolves it on use.
///
///     try locator.register(Cart.self) { Cart(orders: $0.weak()) }
///     try locator.register(Orders.self) { Orders(cart: try $0.resolve()) }
///
/// Each use asks the locator, so a service that is registered later, or replaces another one, is found.
public struct WeakService<Service: Sendable>: Sendable {
    // A class, because a weak reference in a value isn't Sendable. `@unchecked Sendable`: weak references are read atomically, and this one
    // never changes.
    private final class Reference: @unchecked Sendable {
        private(set) weak var locator: ServiceLocator?

        init(_ locator: ServiceLocator) {
            self.locator = locator
        }
    }

    private let reference: Reference

    init(_ locator: ServiceLocator) {
        reference = Reference(locator)
    }

    /// The service, if it exists; `nil` if it doesn't, or if the locator was released. The property doesn't create a service.
    public var value: Service? { reference.locator?.existing() }

    /// Returns the service, and creates it if it doesn't exist.
    ///
    /// - Throws: ``ServiceLocatorError``, of the kind `released` if the locator was released; the error of the closure that creates the
    ///   service.
    public func resolve() throws -> Service {
        guard let locator = reference.locator else { throw ServiceLocatorError.released(ServiceEntry.name(of: Service.self)) }
        return try locator.resolve()
    }
}

/// An error of a ``ServiceLocator``.
public struct ServiceLocatorError: DescribedError, Sendable, Hashable {
    /// The kinds of errors.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No service of the type is registered, or its object was released.
        case missing
        /// The locator has an entry of the type.
        case duplicate
        /// Services need each other to be created.
        case cycle
        /// The object doesn't have the type that it was registered with.
        case otherType
        /// The locator of a ``WeakService`` was released.
        case released
    }

    /// The kind of error.
    public let kind: Kind
    /// The name of the service's type.
    public let service: String
    /// The services of a cycle: each needs the next, and the first and the last are the same. Empty for other errors.
    public let path: [String]
    /// What happened and how to fix it.
    public let description: String

    private init(_ kind: Kind, _ service: String, path: [String] = [], _ description: String) {
        self.kind = kind
        self.service = service
        self.path = path
        self.description = VisibleText.of(description)
    }

    static func missing(_ service: String, names: [String]) -> Self {
        let hint =
            if let nearest = NearestName.of(service, among: names) {
                "the nearest registered name is \(nearest)"
            } else if names.isEmpty {
                "the locator is empty"
            } else {
                "it has \(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? " and \(names.count - 20) more" : "")"
            }
        return Self(
            .missing, service,
            "The locator has no service \(service): \(hint). Register it under this type, and keep an object that is registered weakly.")
    }

    static func duplicate(_ service: String) -> Self {
        Self(
            .duplicate, service,
            "The locator already has a service \(service): pass replacing: true to replace it, or register the other one in a child locator."
        )
    }

    static func cycle(_ path: [String]) -> Self {
        Self(
            .cycle, path.first ?? "", path: path,
            "Services need each other to be created: \(path.joined(separator: " → ")). Let one of them take a WeakService, and resolve it "
                + "when it is used.")
    }

    static func otherType(_ service: String, object: String) -> Self {
        Self(.otherType, service, "The object \(object) isn't a \(service): register it under one of its own types.")
    }

    static func released(_ service: String) -> Self {
        Self(.released, service, "The locator of the service \(service) was released: keep it as long as its services are used.")
    }
}
