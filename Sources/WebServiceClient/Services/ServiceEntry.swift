/// An entry of a ``ServiceLocator``.
struct ServiceEntry {
    /// The registered value, closure or weak object, or the service that the closure created.
    enum Holding {
        case kept(ServiceBox)
        case unmade(ServiceMaker)
        case unkept(WeakObject)
    }

    /// The current content. It retains a weakly registered object.
    enum Content {
        case made(ServiceBox)
        case unmade(ServiceMaker)
        case object(any AnyObject & Sendable)
    }

    let key: ObjectIdentifier
    /// The name of the type, for messages.
    let name: String
    /// Whether the entry belongs to one scope only: child locators create their own service.
    let isOfScope: Bool
    var holding: Holding

    init<Service>(_ type: Service.Type, _ holding: Holding, isOfScope: Bool = false) {
        key = ObjectIdentifier(Service.self)
        name = Self.name(of: type)
        self.holding = holding
        self.isOfScope = isOfScope
    }

    /// `nil` if the object was released.
    var content: Content? {
        switch holding {
        case .kept(let box): .made(box)
        case .unmade(let maker): .unmade(maker)
        case .unkept(let reference): reference.object.map { .object($0) }
        }
    }

    /// The name of a type in messages, without the `any` of a protocol.
    static func name<Service>(of type: Service.Type) -> String {
        let name = String(describing: type)
        return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
    }
}

/// A reference that doesn't retain its object.
struct WeakObject {
    private(set) weak var object: (any AnyObject & Sendable)?

    init(_ object: any AnyObject & Sendable) {
        self.object = object
    }
}

/// A service with an erased type. Its key in the locator identifies the type.
class ServiceBox: @unchecked Sendable {
    // `@unchecked Sendable`, because a class that isn't final can't be checked. It has no state, and its only subclass is immutable.

    /// The service.
    final func service<Service: Sendable>() -> Service? { (self as? TypedServiceBox<Service>)?.value }
}

/// A service with its type.
final class TypedServiceBox<Service: Sendable>: ServiceBox, @unchecked Sendable {
    fileprivate let value: Service

    init(_ value: Service) {
        self.value = value
    }
}
