import Foundation

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

/// Creates a service once.
///
/// The first thread that needs the service creates it, and the others wait. A graph of all services that are being created, and of the
/// threads that wait for them, detects a cycle before a thread would wait for itself, across all locators and threads.
final class ServiceMaker: Sendable {
    /// The name of the service, for messages.
    let name: String
    private let make: @Sendable (ServiceLocator) throws -> ServiceBox
    /// The service, once it exists. A thread may still get the maker from the locator before the locator has the service.
    private let made = Locked<ServiceBox?>(nil)

    init(_ name: String, _ make: @escaping @Sendable (ServiceLocator) throws -> ServiceBox) {
        self.name = name
        self.make = make
    }

    /// Returns a maker that creates another service with the same closure.
    func copy() -> ServiceMaker { ServiceMaker(name, make) }

    /// Returns the service. The first call creates it, for a locator that keeps it from then on.
    ///
    /// - Throws: ``ServiceLocatorError`` of the kind `cycle`, or the error of the closure.
    func service(for locator: ServiceLocator, _ key: ObjectIdentifier) throws -> ServiceBox {
        switch Self.graph.withLock({ $0.enter(self, made, ServiceThread.current) }) {
        case .made(let box): return box
        case .cycle(let path): throw ServiceLocatorError.cycle(path)
        case .wait(let waiter): return try waiter.wait()
        case .make:
            let result = Result { try make(locator) }
            if case .success(let box) = result { locator.keep(box, from: self, for: key) }
            let waiters = Self.graph.withLock { graph in
                if case .success(let box) = result { made.withLock { $0 = box } }
                return graph.leave(self, ServiceThread.current)
            }
            for waiter in waiters { waiter.end(result) }
            return try result.get()
        }
    }

    private static let graph = Locked(ServiceGraph())
}

/// Identifies the current thread. A service is created on one thread from beginning to end.
private enum ServiceThread {
    static var current: ObjectIdentifier { ObjectIdentifier(Thread.current) }
}

/// A thread that waits for a service that another thread creates.
private final class ServiceWaiter: Sendable {
    let thread: ObjectIdentifier
    private let semaphore = DispatchSemaphore(value: 0)
    private let result = Locked<Result<ServiceBox, any Error>?>(nil)

    init(_ thread: ObjectIdentifier) {
        self.thread = thread
    }

    func end(_ result: Result<ServiceBox, any Error>) {
        self.result.withLock { $0 = result }
        semaphore.signal()
    }

    func wait() throws -> ServiceBox {
        semaphore.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}

/// The services of all locators that are being created, and the threads that create and await them.
private struct ServiceGraph {
    /// The next step of a thread that needs a service.
    enum Step {
        case made(ServiceBox)
        case make
        case wait(ServiceWaiter)
        case cycle([String])
    }

    /// The services that each thread is creating; each one needs the next.
    private var stacks: [ObjectIdentifier: [ServiceMaker]] = [:]
    /// The thread that creates a service.
    private var creators: [ObjectIdentifier: ObjectIdentifier] = [:]
    /// The service that a thread waits for.
    private var awaited: [ObjectIdentifier: ServiceMaker] = [:]
    private var waiters: [ObjectIdentifier: [ServiceWaiter]] = [:]

    mutating func enter(_ maker: ServiceMaker, _ made: Locked<ServiceBox?>, _ thread: ObjectIdentifier) -> Step {
        if let box = made.withLock({ $0 }) { return .made(box) }
        guard creators[ObjectIdentifier(maker)] != nil else {
            creators[ObjectIdentifier(maker)] = thread
            stacks[thread, default: []].append(maker)
            return .make
        }
        if let path = cycle(through: maker, thread) { return .cycle(path) }
        let waiter = ServiceWaiter(thread)
        awaited[thread] = maker
        waiters[ObjectIdentifier(maker), default: []].append(waiter)
        return .wait(waiter)
    }

    /// Ends a creation.
    ///
    /// - Returns: The threads that wait for it.
    mutating func leave(_ maker: ServiceMaker, _ thread: ObjectIdentifier) -> [ServiceWaiter] {
        creators[ObjectIdentifier(maker)] = nil
        stacks[thread]?.removeLast()
        if stacks[thread]?.isEmpty == true { stacks[thread] = nil }
        let ended = waiters.removeValue(forKey: ObjectIdentifier(maker)) ?? []
        for waiter in ended { awaited[waiter.thread] = nil }
        return ended
    }

    /// The names of the services of a cycle that would begin if a thread waited for a service; `nil` if there would be none.
    private func cycle(through first: ServiceMaker, _ thread: ObjectIdentifier) -> [String]? {
        var path: [String] = []
        var maker = first
        // A thread waits for one service at most, so this ends, at the latest with the thread itself.
        while let creator = creators[ObjectIdentifier(maker)], let stack = stacks[creator] {
            path += stack.drop { $0 !== maker }.map(\.name)
            if creator == thread { return path + [first.name] }
            guard let next = awaited[creator] else { return nil }
            maker = next
        }
        return nil
    }
}
